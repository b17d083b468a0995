"""CRDs of other projects as the tests apply them: without descriptions. These are most of their bytes, an API server takes them all up again
with each CRD that comes, and they change nothing of what it takes or refuses."""
import pathlib, re


def bare(text):
    """A field that is called description has no text on its line, but a schema below it."""
    kept, depth = [], None
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if depth is not None and (not line.strip() or indent > depth):
            continue
        depth = indent if re.match(r" +description: \S", line) else None
        if depth is None:
            kept.append(line)
    return "".join(kept)


def bare_ones(folder, to):
    to.mkdir()
    for path in pathlib.Path(folder).glob("*.yaml"):
        (to / path.name).write_text(bare(path.read_text()))
    return to
