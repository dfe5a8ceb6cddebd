"""How far reading has come, where the end is known and where it is not."""

from dctx.ingest.progress import BytesRead, Done, Pace, part_of
from dctx.reports.format import progress

MIB = 1 << 20


def test_the_pace_is_that_of_the_last_two_seconds() -> None:
    now = [50.0]
    pace = Pace(lambda: now[0])
    seen: list[BytesRead] = []
    for second in range(5):  # a MiB each half second
        for half in (0.0, 0.5):
            now[0] = 50.0 + second + half
            seen.append(pace.at(int(2 * (second + half)) * MIB))
    assert [read.bytes_per_s for read in seen] == [None, None, *[2.0 * MIB] * 8]
    assert seen[-1].bytes == 9 * MIB
    for wait_s, rate in ((1.0, 1.0 * MIB), (1.0, 0.0)):  # nothing comes any more
        now[0] += wait_s
        assert pace.at(9 * MIB).bytes_per_s == rate


def test_a_stage_is_a_part_of_the_whole_and_a_stream_is_none() -> None:
    assert part_of(0.5, 0.2, 0.6) == 0.4
    stream = BytesRead(7)
    assert part_of(stream, 0.2, 0.6) is stream


def test_progress_as_text() -> None:
    cases: list[tuple[Done, str]] = [
        (0.414, " 41 %"),
        (1.0, "100 %"),
        (BytesRead(0), "0 B"),
        (BytesRead(3 * MIB, 0.0), "3.00 MiB, 0 B/s"),
        (BytesRead(3 * MIB, 1536.4), "3.00 MiB, 1.50 KiB/s"),
    ]
    for done, text in cases:
        assert progress(done) == text
