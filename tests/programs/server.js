// The same server for node: `node server.js FILE`.
const server = require("http").createServer((request, response) => response.end("hello"));
server.listen(0, "127.0.0.1", () => {
  console.log(`listening on ${server.address().port}`);
  require("fs").writeFileSync(process.argv[2], "");
});
