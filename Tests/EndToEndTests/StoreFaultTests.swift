import CameoModel
import CameoStore
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Read-only or full disks: real file systems, in a mount namespace of the test.
    @Suite(.timeLimit(.minutes(10)), .enabled(if: MountNamespace.isAvailable, "needs unshare(1) with mounts"))
    struct StoreFaultTests {
        @Test func aStoreOnAReadOnlyDiskCanBeReadAndNotWritten() async throws {
            let deployment = try await Deployment.withPhoto()
            let receipt = try #require(try await deployment.enqueue("pictures/photo.jpg").first)
            #expect(try await deployment.drain().exitStatus == 0)
            // As copied to read-only media: one clean file and the blobs.
            for name in ["cameo.sqlite-wal", "cameo.sqlite-shm"] {
                try FileManager.default.removeItem(atPath: "\(deployment.store)/\(name)")
            }
            let uri = receipt.thumbnails[0].uri.text
            let result = try await MountNamespace.run(
                """
                mount --bind "$CAMEO_STORE" "$CAMEO_STORE" && mount -o remount,bind,ro "$CAMEO_STORE"
                "$BIN/cameo-status" --json | grep -q '"completed":1' && echo read
                "$BIN/cameo-status" cat \(uri) | wc -c
                "$BIN/cameo-enqueue" \(deployment.pictures)/photo.jpg; echo "enqueue $?"
                "$BIN/cameo-worker" --drain; echo "worker $?"
                "$BIN/cameo-admin" check > /dev/null; echo "check $?"
                """,
                deployment
            )
            let size = try #require(try await deployment.job(receipt.jobID).thumbnails[0].bytes)
            #expect(result.outputText == "read\n\(size)\nenqueue 4\nworker 4\ncheck 0\n", "\(result.errorText)")
            #expect(result.errorText.contains("read-only"))
        }

        @Test func aFullDiskIsNamedAndNothingAcceptedIsLost() async throws {
            let deployment = try Deployment()
            let photo = try deployment.add(try await Pictures.photo("png"), as: "photo.png")
            try FileManager.default.createDirectory(atPath: deployment.store, withIntermediateDirectories: true)
            // No two thumbnails share a blob: together they exceed the disk.
            for width in 361...400 {
                let rendition = Rendition(width: width, height: width, format: .png)
                let request = ThumbnailRequest(source: "file://\(photo)", renditions: [rendition], maxAttempts: 1)
                _ = try deployment.folder.write(Data(request.json.canonicalText.utf8), to: "\(width).json")
            }
            let result = try await MountNamespace.run(
                """
                mount -t tmpfs -o size=8m,mode=0700 tmpfs "$CAMEO_STORE"
                for request in *.json; do set -- "$@" --request "$request"; done
                "$BIN/cameo-enqueue" "$@" > /dev/null; echo "enqueue $?"
                "$BIN/cameo-worker" --drain --allow-root \(deployment.pictures); echo "worker $?"
                head -c 20m /dev/zero > "$CAMEO_STORE/ballast"
                "$BIN/cameo-enqueue" \(photo); echo "full $?"
                rm "$CAMEO_STORE/ballast"
                "$BIN/cameo-admin" check > /dev/null; echo "check $?"
                "$BIN/cameo-status" jobs --state discarded --limit 1 --json
                "$BIN/cameo-status" --json
                """,
                deployment
            )
            let lines = result.outputText.split(separator: "\n")
            try #require(lines.count == 7, "\(result.outputText)\(result.errorText)")
            #expect([lines[0], lines[2], lines[3], lines[4]] == ["enqueue 0", "worker 1", "full 4", "check 0"])
            #expect(result.errorText.contains("cameo-enqueue: store.full: no space is left"))
            let job = try WireFormat.decode(Job.self, from: Data(lines[5].utf8))
            #expect(job.failure?.code == .storeFull)
            let status = try WireFormat.decode(StatusReport.self, from: Data(lines[6].utf8))
            #expect(status.jobs.values.reduce(0, +) == 40)
            #expect(status.count(.completed) + status.count(.discarded) == 40)
            #expect(status.count(.completed) > 0)
        }

        /// A server on a disk that is full for a while; and one that is started on a read-only disk.
        @Test(.enabled(if: Deployment.hasWeb, "needs a build with CAMEO_WEB=1"))
        func aWebServerNamesWhatTheDiskRefusesAndServesOn() async throws {
            let deployment = try Deployment()
            try FileManager.default.createDirectory(atPath: deployment.store, withIntermediateDirectories: true)
            _ = try deployment.folder.write(Data("test read,enqueue 0123456789abcdef\n".utf8), to: "tokens")
            let result = try await MountNamespace.run(
                """
                mount -t tmpfs -o size=8m,mode=0700 tmpfs "$CAMEO_STORE"
                call() { curl -s -o body -w '%{http_code}\\n' --unix-socket socket -H 'Authorization: Bearer 0123456789abcdef' "$@"; }
                post() { call -d '{"source":"initials:AB","renditions":[{"width":'$1'}]}' -H 'Content-Type: application/json' x/jobs; }
                "$BIN/cameo-web" --listen unix:socket --tokens tokens > /dev/null & server=$!
                until [ -S socket ]; do :; done
                post 16
                head -c 20m /dev/zero > "$CAMEO_STORE/ballast"
                post 17; grep -o '"code":"[a-z.A-Z]*"' body
                call x/jobs/1
                rm "$CAMEO_STORE/ballast"
                post 18
                kill $server; wait $server; echo "$?"
                mount -o remount,ro "$CAMEO_STORE"
                "$BIN/cameo-web" --listen unix:socket; echo "$?"
                """,
                deployment
            )
            let expected = "201\n507\n\"code\":\"store.full\"\n200\n201\n0\n4\n"
            #expect(result.outputText == expected, "\(result.errorText)")
            #expect(result.errorText.contains("read-only"))
        }

        /// Four programs enqueue until each is refused, while a worker fills the same disk with thumbnails.
        @Test(.enabled(if: TestLength.isWhole, "--all"))
        func aDiskThatFillsUnderManyWritersKeepsWhatItAcknowledgedAndNoMore() async throws {
            let deployment = try await Deployment.withPhoto()
            try FileManager.default.createDirectory(atPath: deployment.store, withIntermediateDirectories: true)
            let producers = ["901", "902", "903", "904"]
            let result = try await MountNamespace.run(
                """
                mount -t tmpfs -o size=100m,mode=0700 tmpfs "$CAMEO_STORE"
                head -c 93m /dev/zero > "$CAMEO_STORE/ballast"
                "$BIN/cameo-worker" --allow-root pictures --log-level warning 2> worker.log & worker=$!
                padding=$(head -c \(Self.padding) /dev/zero | tr '\\0' x)
                produce() {
                    for width in $(seq 300 3000); do
                        "$BIN/cameo-enqueue" pictures/photo.jpg --json --size "${width}x$1:png" \
                            --metadata "{\\"padding\\":\\"$padding\\"}" >> "receipts.$1" 2> "refusal.$1" || return $?
                    done
                }
                for name in \(producers.joined(separator: " ")); do
                    (produce $name; echo "$?" > "exit.$name") & running="$running $!"
                done
                # Thumbnails leave some room for what jobs have to say; this is to be full to the last page.
                until grep -q "no space is left" worker.log || [ -e exit.901 ]; do sleep 0.1; done
                head -c 3500k /dev/zero > "$CAMEO_STORE/more-ballast"
                wait $running
                rm "$CAMEO_STORE/ballast" "$CAMEO_STORE/more-ballast"
                "$BIN/cameo-worker" --drain --allow-root pictures > /dev/null 2>&1; echo "drain $?"
                kill $worker; wait $worker; echo "worker $?"
                "$BIN/cameo-admin" check > /dev/null; echo "check $?"
                "$BIN/cameo-status" jobs --json --limit 100000 > jobs
                """,
                deployment
            )
            #expect(result.outputText == "drain 0\nworker 0\ncheck 0\n", "\(result.errorText)")
            var acknowledged: [Int64] = []
            for name in producers {
                #expect(try text("exit.\(name)", deployment) == "4\n")
                #expect(
                    try text("refusal.\(name)", deployment).hasPrefix("cameo-enqueue: store.full: no space is left")
                )
                acknowledged += try text("receipts.\(name)", deployment).split(separator: "\n").map {
                    try WireFormat.decode(EnqueueReceipt.self, from: Data($0.utf8)).jobID
                }
            }
            let jobs = try text("jobs", deployment).split(separator: "\n").map {
                try WireFormat.decode(Job.self, from: Data($0.utf8))
            }
            // What was refused was not stored either.
            #expect(jobs.map(\.id).sorted() == acknowledged.sorted())
            #expect(jobs.allSatisfy { $0.state == .completed && $0.attempt == 1 })
            // The worker met the full disk too, and reported it.
            #expect(try text("worker.log", deployment).contains("no space is left"))
        }

        /// Unused bytes that fill the disk.
        private static let padding = 15_000

        private func text(_ name: String, _ deployment: Deployment) throws -> String {
            try String(contentsOfFile: deployment.folder.path(name), encoding: .utf8)
        }
    }
}

/// Runs a script that may mount file systems which nobody else sees.
enum MountNamespace {
    /// Unprivileged if the kernel allows it, else as root.
    static let command = getuid() == 0 ? ["unshare", "-m"] : ["unshare", "-rm"]

    static let isAvailable: Bool = {
        let probe = Process()
        probe.executableURL = URL(filePath: "/usr/bin/env")
        probe.arguments = ["timeout", "60"] + command + ["sh", "-c", "mount -t tmpfs tmpfs /mnt"]
        probe.standardInput = FileHandle.nullDevice
        probe.standardOutput = FileHandle.nullDevice
        probe.standardError = FileHandle.nullDevice
        guard (try? probe.run()) != nil else { return false }
        probe.waitUntilExit()
        return probe.terminationStatus == 0
    }()

    static func run(_ script: String, _ deployment: Deployment) async throws -> ProcessResult {
        let bin = URL(filePath: try Deployment.executable("cameo-status")).deletingLastPathComponent().path
        return try await TestSupport.run(
            "/usr/bin/env",
            command + ["sh", "-c", script],
            environment: ["CAMEO_STORE": deployment.store, "BIN": bin],
            currentDirectory: deployment.folder.url
        )
    }
}
