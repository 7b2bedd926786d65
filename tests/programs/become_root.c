/* Owned by root with the setuid bit: sleeps as root, where the ordinary user who started it may not signal it. */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc != 2 || setgid(0) != 0 || setuid(0) != 0)
        return 1;
    for (unsigned left = (unsigned)atoi(argv[1]); left > 0;)
        left = sleep(left);
    return 0;
}
