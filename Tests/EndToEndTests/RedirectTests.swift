import CameoModel
import CameoSystem
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `cameo-web --redirect-blobs`: a PostgreSQL server, an S3 server, and a client that knows neither.
    @Suite(.timeLimit(.minutes(10)), .serialized, .enabled(if: Fleet.isBuilt))
    struct RedirectTests {
        /// A fleet with one thumbnail in its rows and one in its bucket.
        private static func made() async throws -> (fleet: Fleet, small: Made, large: Made) {
            let fleet = try await Fleet()
            try fleet.deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
            let sizes = ["pictures/photo.jpg", "--size", "64x64:cover:webp", "--size", "600x:png"]
            try await fleet.command("cameo-enqueue", sizes).succeeded()
            let roots = ["--drain", "--allow-root", fleet.deployment.pictures, "--log-level", "error"]
            try await fleet.command("cameo-worker", roots).succeeded()
            let job = try WireFormat.decode(
                Job.self,
                from: try await fleet.command("cameo-status job 1 --json").standardOutput
            )
            let thumbnails = job.thumbnails.map { thumbnail in
                Made(id: String(thumbnail.uri.text.suffix(32)), digest: String(thumbnail.blob?.text.suffix(71) ?? ""))
            }
            try #require(thumbnails.count == 2)
            #expect(try await fleet.number("SELECT count(*) FROM blob WHERE data IS NULL") == 1)
            return (fleet, thumbnails[0], thumbnails[1])
        }

        private struct Made {
            let id: String
            let digest: String
        }

        /// What `curl` gets: the headers of all answers, in lower case, and the body of the last.
        private func get(_ url: String, _ options: String...) async throws -> (headers: String, body: Data) {
            let result = try await run("curl", ["-sS", "-D", "/dev/stderr"] + options + [url]).succeeded()
            return (result.errorText.lowercased().replacing("\r\n", with: "\n"), result.standardOutput)
        }

        private func location(_ headers: String) throws -> String {
            String(try #require(headers.firstMatch(of: #/\nlocation: (\S+)/#)?.output.1))
        }

        @Test func largePicturesAreReadFromTheBucketAndSmallOnesFromHere() async throws {
            let (fleet, small, large) = try await Self.made()
            let (web, url) = try await fleet.startWeb("--redirect-blobs")
            defer { web.killGroup() }
            let thumb = "\(url)thumb/\(large.id)"
            let (headers, _) = try await get(thumb)
            #expect(headers.hasPrefix("http/1.1 307"))
            #expect(headers.contains("\ncache-control: public, max-age=60\n"))
            // With a validator, a cache would keep a URL that has ended.
            #expect(!headers.contains("etag:") && !headers.contains("last-modified:") && !headers.contains("stale"))
            let origin = "http://127.0.0.1:\(fleet.objects.port)"
            #expect(try location(headers).hasPrefix("\(origin)/cameo/pictures/"))
            // The same URL again, so that a browser has its answer already.
            #expect(try location(try await get(thumb).headers) == location(headers))
            let stored = try await fleet.command("cameo-status cat cameo://thumb/\(large.id)").standardOutput
            #expect(stored.count > 102_400)
            let followed = try await get(thumb, "-L")
            #expect(followed.body == stored)
            #expect(followed.headers.contains("\ncontent-type: image/png\n"))
            let part = try await get(thumb, "-L", "-r", "10-19")
            #expect(part.headers.contains("http/1.1 206") && part.body == stored.subdata(in: 10..<20))
            let head = try await get(thumb, "-L", "--head")
            #expect(head.headers.contains("http/1.1 200") && head.headers.contains("content-length: \(stored.count)\n"))
            // Who has the bytes needs no URL.
            let condition = try await get(thumb, "-H", "If-None-Match: \"\(large.digest)\"")
            #expect(condition.headers.hasPrefix("http/1.1 304") && condition.headers.contains("etag:"))
            // Its bytes never change, but the URL ends within the hour.
            let blob = try await get("\(url)blob/\(large.digest)")
            let age = try #require(blob.headers.firstMatch(of: #/max-age=(\d+)/#).flatMap { Int($0.output.1) })
            #expect(blob.headers.hasPrefix("http/1.1 307") && (1_700...3_540).contains(age))
            for path in ["thumb/\(small.id)", "blob/\(small.digest)"] {
                let direct = try await get("\(url)\(path)")
                #expect(
                    direct.headers.hasPrefix("http/1.1 200") && direct.headers.contains("etag: \"\(small.digest)\"")
                )
            }
            #expect(try await get(url).headers.contains("img-src 'self' blob: data: \(origin);"))
        }

        /// A redirect at a URL that expires is forgotten with it, and never stale.
        @Test func aRedirectLastsNoLongerThanItsURL() async throws {
            let (fleet, _, large) = try await Self.made()
            let (key, folder) = ("0123456789abcdef", try TemporaryFolder())
            let file = try folder.write(Data(key.utf8), to: "key")
            let (web, url) = try await fleet.startWeb("--redirect-blobs", "--sign-key", file)
            defer { web.killGroup() }
            let source = "cameo://blob/\(large.digest)"
            try await fleet.command("cameo-enqueue", [source, "--size", "600x:png"]).succeeded()
            try await fleet.command("cameo-worker --drain --log-level error").succeeded()
            for (seconds, most) in [(50, 50), (4_000, 60)] {
                let expires = Int(Date().timeIntervalSince1970) + seconds
                let message = "600x:png\n\(source)\n\(expires)"
                let signature = Hexadecimal.encode(HMACKey(Array(key.utf8)).code(of: Array(message.utf8)))
                let path = "make/600x:png/\(PercentEncoding.encoded(source))?sig=\(signature)&expires=\(expires)"
                let headers = try await get(url + path).headers
                #expect(headers.hasPrefix("http/1.1 307"), "\(headers)")
                let age = headers.firstMatch(of: #/\ncache-control: public, max-age=(\d+), must-revalidate\n/#)
                #expect((1...most).contains(try #require(age.flatMap { Int($0.output.1) })), "\(headers)")
            }
        }

        /// They need a token, which the URL would not.
        @Test func originalsAreReadFromHere() async throws {
            let fleet = try await Fleet()
            let photo = try Data(contentsOf: URL(filePath: try await Pictures.photo("png")))
            let arguments = ["--data", "--cache-key", "user:42", "--size", "64x64"]
            try await fleet.command("cameo-enqueue", arguments, input: photo).succeeded()
            #expect(try await fleet.number("SELECT count(*) FROM blob WHERE data IS NULL") == 1, "it is in the bucket")
            let (web, url) = try await fleet.startWeb("--redirect-blobs")
            defer { web.killGroup() }
            let read = try await get("\(url)source/user%3A42")
            #expect(read.headers.hasPrefix("http/1.1 200") && read.body == photo)
        }

        @Test func theURLHasTheServerThatClientsReach() async throws {
            let (fleet, _, large) = try await Self.made()
            let proxy = try await FaultyProxy.start(before: fleet.objects.port)
            let endpoint = "http://127.0.0.1:\(proxy.port)"
            let (web, url) = try await fleet.startWeb("--redirect-blobs", "--public-endpoint", endpoint)
            defer { web.killGroup() }
            let followed = try await get("\(url)thumb/\(large.id)", "-L")
            #expect(followed.headers.contains("http/1.1 200") && followed.body.count > 102_400)
            #expect(try await proxy.requests().count == 1)
        }

        @Test func aStoreWithoutABucketIsRefused() async throws {
            let fleet = try await Fleet()
            let folder = try TemporaryFolder()
            for (index, place) in [nil, folder.path].enumerated() {
                let environment = [
                    "CAMEO_STORE": fleet.database.url(ofSchema: "other\(index)"), "CAMEO_BLOBS": place,
                    "CAMEO_WEB_REDIRECT_BLOBS": "1",
                ]
                let refused = try await fleet.command("cameo-web --listen 127.0.0.1:0", environment: environment)
                #expect(refused.exitStatus == 2)
                #expect(refused.errorText.contains("keeps no pictures in a bucket"), "\(refused.errorText)")
                #expect(refused.outputText.isEmpty)
            }
        }
    }
}
