"""The page in a frame of other sites: one script tag, no key in the browser, and origins that may show it.

In reading order:
    routes     /embed: the script of a site, the page in its frame, and the part of the API that the page uses
    script.js  what a site includes: it makes the frame, with the language and the colours of the site
    page.js    runs first in the frame: colours, and storage where a browser refuses it
    page.css   hides of the page what a frame has no place for
"""
