"""Sphinx's mathematics as MathML, which browsers show without network and without scripts."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError

# What the converter does not know, by what it knows.
WORDS = {
    r"\\begin\{(aligned|align\*?|split)\}": r"\\begin{matrix}",
    r"\\end\{(aligned|align\*?|split)\}": r"\\end{matrix}",
    r"\\arg(min|max)?\b": r"\\operatorname{arg\1}",
    r"\\(tfrac|dfrac)\b": r"\\frac",
    r"\\(big|Big|bigg|Bigg)[lrm]?\b\s*": "",
}


def mathml(latex, display):
    """The formula as MathML; what cannot be converted stops the build."""
    text = latex.strip()
    for pattern, known in WORDS.items():
        text = re.sub(pattern, known, text)
    try:
        made = convert(text, display="block" if display else "inline")
    except Exception as error:
        raise ExtensionError(f"This formula cannot be written as MathML: {latex!r}") from error
    if "<mtext>\\" in made or re.search(r">\\[a-zA-Z]+<", made):
        raise ExtensionError(f"A command of this formula is not known to MathML: {latex!r}")
    return made


def visit_inline(translator, node):
    translator.body.append(f'<span class="math">{mathml(node.astext(), False)}</span>')
    raise nodes.SkipNode


def visit_block(translator, node):
    made = mathml(node.astext(), True)
    translator.body.append(f'<div class="math" tabindex="0" role="group">{made}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
