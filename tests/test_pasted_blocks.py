"""Every Python block of the pages can be pasted at the prompt, line by line, where an empty line ends a loop or a class."""

import re
from code import InteractiveConsole
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))]


class Typist(InteractiveConsole):
    """A prompt that parses what is typed and runs nothing."""

    def __init__(self):
        super().__init__()
        self.wrong = []

    def runcode(self, code):
        pass

    def showsyntaxerror(self, *args, **kwargs):
        self.wrong.append(self.buffer[-1])


@pytest.mark.parametrize("page", PAGES)
def test_blocks_can_be_pasted_at_the_prompt(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```python[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        typist = Typist()
        open_ended = [typist.push(line) for line in [*block.splitlines(), ""]][-1]
        assert typist.wrong == []
        assert not open_ended, block
