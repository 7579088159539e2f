"""Makes a client of a running server with openapi-python-client, and uses it to enqueue, wait and fetch.

    generated_client.py URL FOLDER    FOLDER: an empty one, for the client

Prints the states of the job, and the format and the first bytes of its thumbnail.
"""
import os
import pathlib
import subprocess
import sys

url, folder = sys.argv[1].rstrip("/"), sys.argv[2]
programs = pathlib.Path(sys.executable).parent
subprocess.run(
    [programs / "openapi-python-client", "generate", "--url", f"{url}/openapi.json", "--output-path", f"{folder}/client"],
    check=True,
    stdout=sys.stderr,
    # It formats with ruff, which stands beside it.
    env=dict(os.environ, PATH=f"{programs}:{os.environ['PATH']}"),
)
sys.path.insert(0, f"{folder}/client")
from cameo_web_client import AuthenticatedClient, models  # noqa: E402
from cameo_web_client.api.default import enqueue, get_job, get_thumbnail, status  # noqa: E402

client = AuthenticatedClient(url, "0123456789abcdef", timeout=60)
rendition = models.Rendition(width=64, fit=models.RenditionFit.COVER, height=64, format_=models.RenditionFormat.PNG)
request = models.ThumbnailRequest(source="initials:AB", renditions=[rendition])
receipt = enqueue.sync(client=client, body=request)
assert isinstance(receipt, models.ServedReceipt), receipt
job = get_job.sync(receipt.id, client=client)
while job.state is not models.JobState.COMPLETED:
    assert job.state in (models.JobState.AVAILABLE, models.JobState.RUNNING), job
    job = get_job.sync(receipt.id, client=client, wait="30s")
assert isinstance(job, models.ServedJob) and (job.thumbnails[0].width, job.thumbnails[0].height) == (64, 64), job
picture = get_thumbnail.sync_detailed(job.thumbnails[0].url.split("/")[-1], client=client)
report = status.sync(client=client)
assert isinstance(report, models.StatusReport), report
refused = enqueue.sync(client=client, body=models.ThumbnailRequest(source="initials:AB", renditions=[]))
assert isinstance(refused, models.Problem), refused
print(receipt.state.value, job.state.value, job.thumbnails[0].format_.value, picture.content[:4])
