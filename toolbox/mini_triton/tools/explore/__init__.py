"""The explorer: a page that shows a kernel at every stage of its compilation, line by line. (Given.)

    mini-triton explore kernel.py --launch "softmax(np.ones((4, 781), np.float32))" -o softmax.html

In reading order:

subject.py     the kernel, and its arguments
stages.py      the text of each stage, or the reason why the text is missing
lowering.py    real Triton's stages, in a separate process
relations.py   the source lines of each line
accesses.py    the elements that each load and store accesses
traffic.py     the thread of each element, and the cost of an access
memory.py      accesses and their traffic, in the page's format
highlight.py   colors
page.py        the whole page, from `page.html`, `page.css` and `page.js`
"""
