"""The links, in memory."""

from dataclasses import dataclass

from webapp.slugs import encode, is_slug


class Refused(ValueError):
    """Raised for a link that cannot be stored; the text is for the person who sent it."""


class Taken(Refused):
    """Raised when the wished-for slug already leads elsewhere."""


@dataclass
class Link:
    slug: str
    url: str
    hits: int = 0


class Links:
    def __init__(self):
        self._by_slug = {}
        self._count = 0

    def __iter__(self):
        return iter(self._by_slug.values())

    def find(self, slug):
        return self._by_slug.get(slug)

    def add(self, url, slug=None):
        """Return the link for ``url``, a new one unless it is already there."""
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise Refused("url must begin with http:// or https://")
        if slug is None:
            return self._known(url) or self._store(url, self._next_slug())
        if not is_slug(slug):
            raise Refused("slug must be 2 to 20 letters, digits or dashes, and no reserved word")
        taken = self.find(slug)
        if taken is not None and taken.url != url:
            raise Taken(f"slug {slug} leads elsewhere")
        return taken or self._store(url, slug)

    def _known(self, url):
        return next((link for link in self if link.url == url), None)

    def _store(self, url, slug):
        link = self._by_slug[slug] = Link(slug, url)
        return link

    def _next_slug(self):
        while True:
            self._count += 1
            slug = encode(self._count)
            if slug not in self._by_slug:
                return slug
