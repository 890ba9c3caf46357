"""The explorer: a page that shows a kernel at every stage of its compilation, line by line. (Given.)

    python -m mini_triton.tools.explore kernel.py --launch "softmax(np.ones((4, 781), np.float32))" -o softmax.html

In reading order:

subject.py     which kernel, and for which arguments
stages.py      the text of each stage, or the reason why there is none
lowering.py    real Triton's stages, in a process of their own
relations.py   which source lines each line comes from
accesses.py    which elements each load and store touches
traffic.py     which thread does it, and what it costs
memory.py      both of these as the page reads them
highlight.py   colours
page.py        all of it in `page.html`, with `page.css` and `page.js`
"""
