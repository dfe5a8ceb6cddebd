"""Pages that need nothing but themselves, made of hostile names."""

import base64
import hashlib
import io
import re
from html.parser import HTMLParser

from dctx.reports.html import Document, Paragraph, Section, write_html
from dctx.reports.html_charts import Bars
from dctx.reports.sheets import Column, Sheet
from tests.near import near

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m\ud800"


class Page(HTMLParser):
    """Tags with their attributes, the texts of cells, and the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.cells: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["td"]:
            self.cells[-1] += data
        if self.tags[-1:] == ["script"] and data.strip():
            self.scripts.append(data)


def written(*parts: Paragraph | Bars | Sheet, most_rows: int = 2_000) -> str:
    out = io.StringIO()
    write_html(Document(HOSTILE, HOSTILE, [Section(HOSTILE, parts)]), out, most_rows)
    return out.getvalue()


def everything() -> str:
    sheet = Sheet(
        "kernels", [Column(HOSTILE, [HOSTILE, None]), Column("time", [1.23456789, None], "µs")]
    )
    bars = Bars(HOSTILE, [HOSTILE, "b", "c"], [-2.0, 1.0, None], "µs", signed=True)
    return written(Paragraph(HOSTILE, warning=True), bars, sheet)


def test_hostile_texts_stay_texts() -> None:
    text = everything()
    page = Page(text)
    assert page.tags.count("script") == 1
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert page.cells[0].startswith("</script><script>alert(1)")
    text.encode("utf-8")  # a lone surrogate would not go into a file
    assert "\x1b" not in text


def test_only_the_one_script_may_run_and_nothing_is_fetched() -> None:
    text = everything()
    page = Page(text)
    [policy] = [v for n, v in page.attributes if n == "content" and v and "default-src" in v]
    [script] = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert not re.search(r"https?://|@import|url\(", text)
    assert not [name for name, _ in page.attributes if name == "src"]


def test_numbers_sort_by_their_exact_value() -> None:
    page = Page(everything())
    assert ("data-v", "1.23456789") in page.attributes
    assert page.cells[1] == "1.235"
    assert page.cells[2:] == ["", ""]


def test_bars_go_both_ways_from_zero() -> None:
    text = everything()
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', text)
    (less, left, long), (more, right, short), (_, _, none) = bars
    assert (less, more) == ("less", "more")
    assert float(left) + float(long) == near(float(right), abs=0.11)
    assert float(long) == near(2 * float(short), abs=0.11)
    assert (none, text.count("n/a")) == ("0.0", 2)


def test_rows_beyond_the_limit_are_told() -> None:
    page = written(Sheet("s", [Column("n", list(range(5)))]), most_rows=3)
    assert "2 more rows" in page
    assert Page(page).cells == ["0", "1", "2"]


def test_no_values_make_a_page_too() -> None:
    page = written(Bars("none", [], []), Sheet("s", [Column("n", [])]))
    assert Page(page).cells == []
