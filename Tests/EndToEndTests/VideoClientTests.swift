import Cameo
import CameoModel
import Foundation
import FoundationNetworking
import TestSupport
import Testing

extension EndToEnd {
    /// What a Swift program sees of videos, with a worker on its store.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: Deployment.servesVideos, "needs a build with CAMEO_VIDEO=1, and ffmpeg")
    )
    struct VideoClientTests {
        private let deployment: Deployment
        private let client: Client

        init() throws {
            deployment = try Deployment()
            client = try Client(store: deployment.store)
        }

        private func startWorker(_ frames: String = "cameo-frames", _ options: String...) throws -> ChildProcess {
            let frames = try Deployment.executable(frames)
            return try deployment.startWorker(["--frames", frames] + options, environment: [:])
        }

        private func enqueue(_ source: String) async throws -> EnqueueReceipt {
            let rendition = Rendition(width: 64, format: .png)
            return try await client.enqueue(ThumbnailRequest(source: source, renditions: [rendition]))
        }

        private func enqueueFile(_ path: String) async throws -> EnqueueReceipt {
            try await enqueue(URL(filePath: path).absoluteString)
        }

        /// The width that a PNG declares.
        private func width(_ uri: CameoURI) -> Resource<Int> {
            Resource(uri) { data in data.dropFirst(16).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        }

        @Test func aVideosJobTellsItsEventsAndItsFrameIsAResource() async throws {
            let clip = try await deployment.makeVideo("clip.mp4", "-c:v", "libx264")
            let job = try await enqueueFile(try deployment.add(clip, as: "clip.mp4"))
            var worker: ChildProcess?
            var states: [JobState] = []
            var last: Job?
            for try await status in client.events(of: job) {
                if worker == nil { worker = try startWorker() }
                states.append(status.state)
                last = status
            }
            #expect(states.first == .available && states.last == .completed, "\(states)")
            #expect(Set(states).isSubset(of: [.available, .running, .completed]))
            let source = try #require(last?.thumbnails.first?.source)
            #expect(source.format == "video" && source.video?.codec == .h264)
            let uri = job.thumbnails[0].uri
            #expect(try await client.load(width(uri)) == 64)
            #expect(try await URLSession.cameo(client).load(width(uri)) == 64)
            worker?.send(SIGTERM)
            #expect(await worker?.ending == .exited(0))
        }

        /// A loader that gives up leaves the job alone; cancelling the job ends the process that makes its frame.
        @Test func cancellingAVideosJobEndsItsFrame() async throws {
            let hang = "\(deployment.pictures)/hang.mp4"
            try Data([0, 0, 0, 12] + Array("ftypisomCAMEO-TEST-HANG".utf8)).write(to: URL(filePath: hang))
            let job = try await enqueueFile(hang)
            let id = try #require(job.id)
            let worker = try startWorker("cameo-frames-hooked", "--concurrency", "1", "--render-timeout", "1h")
            var frames: [Int32] = []
            while frames.isEmpty {
                frames = try WorkerChildren.of(worker).filter {
                    WorkerChildren.hasOpen("hang.mp4", $0, as: "cameo-frames")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
            let uri = job.thumbnails[0].uri
            let waiting = try #require(URL(string: "\(uri)?wait=30"))
            let load = Task { [client] in try await client.load(Resource(URLRequest(url: waiting)) { data, _ in data })
            }
            load.cancel()
            await #expect(throws: CancellationError.self) { try await load.value }

            var states: [JobState] = []
            for try await status in client.events(of: id) {
                if states.isEmpty { #expect(try await client.cancel(id) == .running) }
                states.append(status.state)
            }
            #expect(states == [.running, .cancelled])
            // The only place is free again long before the time limit.
            let clip = try await deployment.makeVideo("clip.mp4", "-c:v", "libx264")
            let next = try await enqueueFile(try deployment.add(clip, as: "clip.mp4"))
            #expect(try await client.wait(for: try #require(next.id), timeout: .seconds(300)).state == .completed)
            #expect(try await WorkerChildren.areGoneSoon(Set(frames)))
            await #expect(throws: CameoURLError.noDataAvailable(uri.description)) { try await client.data(for: uri) }
            #expect(await worker.stop() == .exited(0))
        }

        /// The original that a worker has fetched, from the store: as a whole, in part, and into a file. What is too large
        /// for memory is refused: `LargeTests`.
        @Test func theOriginalOfAVideoIsServed() async throws {
            let clip = try await deployment.makeVideo("clip.mp4", "-c:v", "libx264")
            let bytes = try Data(contentsOf: URL(filePath: clip))
            let origin = try await Origin.start(serving: deployment.folder.path)
            let source = origin.url("/film?file=clip.mp4")
            let job = try await enqueue(source)
            let worker = try startWorker("cameo-frames", "--allow-network", "127.0.0.0/8")
            let id = try #require(job.id)
            #expect(try await client.wait(for: id, timeout: .seconds(300)).state == .completed)
            let original = CameoURI.source(source)
            let (data, response) = try await URLSession.cameo(client).data(from: original.url)
            #expect(data == bytes)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == "video/mp4")
            var part = URLRequest(url: original.url)
            part.setValue("bytes=-100", forHTTPHeaderField: "Range")
            let (tail, partial) = try await URLSession.cameo(client).data(for: part)
            #expect(tail == bytes.suffix(100) && (partial as? HTTPURLResponse)?.statusCode == 206)
            let copy = deployment.folder.url.appending(path: "copy.mp4")
            try await client.write(original, to: copy)
            #expect(try Data(contentsOf: copy) == bytes)
            #expect(await worker.stop() == .exited(0))
        }
    }
}
