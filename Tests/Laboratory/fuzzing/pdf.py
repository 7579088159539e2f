"""PDF: a document, and forged numbers in it."""

import re

from fuzzing.generic import UNSIGNED


def document():
    """A PDF of two pages with text, curves and transparency; readers rebuild the cross-reference table."""
    stream = b"q 0.9 0.2 0.1 rg 10 10 60 40 re f Q BT /F 18 Tf 12 60 Td (Cameo) Tj ET 5 5 m 40 90 80 -20 90 60 c S"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R 3 0 R] /Count 2 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 80] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        data
        + b"xref\n0 6\n0000000000 65535 f \n"
        + table
        + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(data)
    )


def pdf_numbers(rng, data, others):
    found = list(re.finditer(rb"\b\d+\b", data[9:]))
    match = rng.choice(found)
    return data[: 9 + match.start()] + str(rng.choice(UNSIGNED + [-1, 10**20])).encode() + data[9 + match.end() :]
