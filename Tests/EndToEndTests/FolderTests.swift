import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Folders as sources: what is in them, and what comes into them.
    @Suite(.timeLimit(.minutes(10)))
    struct FolderTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try await Deployment.withPhoto()
        }

        private func shell(_ script: String) async throws {
            try await deployment.shell("set -e; \(script)", in: "pictures").succeeded()
        }

        private func enqueue(_ arguments: String...) async throws -> ProcessResult {
            try await deployment.command("cameo-enqueue", arguments)
        }

        /// The sources of all jobs, without their folder, in the order of their numbers.
        private func sources() async throws -> [String] {
            try await deployment.sql("SELECT json_extract(request, '$.source') FROM job ORDER BY id;")
                .split(separator: "\n").map { String($0).replacing("file://\(deployment.pictures)/", with: "") }
        }

        private func watch(_ arguments: String...) async throws -> ChildProcess {
            let watch = try ChildProcess(
                try Deployment.executable("cameo-enqueue"),
                ["--watch", "pictures"] + arguments,
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            )
            try await eventually("the folder is watched") {
                String(decoding: watch.standardError, as: UTF8.self).contains("watching")
            }
            return watch
        }

        private func waitForSources(_ expected: String...) async throws {
            try await deployment.waitUntil { _ in try await sources().count >= expected.count }
            #expect(try await sources() == expected)
        }

        @Test func aFolderMeansThePicturesInItByTheirContent() async throws {
            try await shell(
                """
                mkdir -p b/c .git empty/deeper; cp photo.jpg b/c/data.bin; cp photo.jpg b/two.jpg; cp photo.jpg .git/no.jpg
                cp photo.jpg .hidden.jpg; echo no picture > notes.jpg; printf '%%PDF-1.4' > paper.pdf; ln -s photo.jpg link.jpg
                ln -s .. b/loop; mkfifo pipe.jpg; mv photo.jpg $'caf\\xe9.jpg'; ln -sf $'caf\\xe9.jpg' link.jpg
                """
            )
            let result = try await enqueue("-r", "pictures").succeeded()
            #expect(result.errorText.contains("pictures: 4 pictures, 2 other files skipped"), "\(result.errorText)")
            #expect(try await sources() == ["b/c/data.bin", "b/two.jpg", "caf%E9.jpg", "link.jpg"])
            let none = try await enqueue("-r", "pictures/empty")
            #expect(none.exitStatus == 2 && none.errorText.contains("pictures/empty: contains no pictures"))
            try await deployment.drain().succeeded()
        }

        @Test func theStoreIsNoFolderOfPictures() async throws {
            let store = deployment.pictures + "/store"
            for _ in 1...2 {
                let result = try await deployment.command(
                    "cameo-enqueue -r pictures --size 2000x2000:png",
                    environment: ["CAMEO_STORE": store]
                )
                #expect(result.exitStatus == 0 && result.outputText.split(separator: "\n").count == 1)
                let worker = ["--drain", "--allow-root", deployment.pictures, "--store", store]
                #expect(try await deployment.command("cameo-worker", worker).exitStatus == 0)
            }
            let blobs = try FileManager.default.subpathsOfDirectory(atPath: store + "/blobs")
            #expect(blobs.contains { $0.count > 60 }, "there is a picture that could have been found")
        }

        @Test(
            arguments: [
                (["--watch", "pictures/photo.jpg"], "--watch: pictures/photo.jpg is not a folder"),
                (["--watch", "none"], "--watch: none is not a folder"),
                (["pictures"], "add -r for all pictures in it"),
            ]
        )
        func mistakesAreRefused(arguments: [String], message: String) async throws {
            let result = try await deployment.command("cameo-enqueue", arguments)
            #expect(result.exitStatus == 2 && result.errorText.contains(message), "\(result.errorText)")
        }

        @Test func whatComesIsEnqueuedOnceItIsComplete() async throws {
            let watch = try await watch()
            defer { watch.killGroup() }
            try await shell("cp photo.jpg copied.jpg")
            try await waitForSources("copied.jpg")
            // It must not read the folder between the two names of a picture.
            watch.send(SIGSTOP)
            try await watch.hasStopped()
            try await shell("cp photo.jpg .half; cp photo.jpg whole.part; mv .half moved.jpg; mv whole.part whole.jpg")
            watch.send(SIGCONT)
            try await waitForSources("copied.jpg", "moved.jpg", "whole.jpg")
            try await shell(
                "ln photo.jpg linked.jpg; echo text > notes.txt; mkdir below; cp photo.jpg below/unseen.jpg"
            )
            try await waitForSources("copied.jpg", "moved.jpg", "whole.jpg", "linked.jpg")
            // Open for writing all the while: only its end makes it a picture.
            try await shell("exec 3> slow.jpg; cat photo.jpg >&3; cp photo.jpg quick.jpg; sleep 0.5; exec 3>&-")
            try await waitForSources("copied.jpg", "moved.jpg", "whole.jpg", "linked.jpg", "quick.jpg", "slow.jpg")
        }

        @Test func foldersBelowComeAndGo() async throws {
            let watch = try await watch("-r")
            defer { watch.killGroup() }
            try await waitForSources("photo.jpg")
            try await shell("mkdir -p a/b; cp photo.jpg a/b/one.jpg")
            try await waitForSources("photo.jpg", "a/b/one.jpg")
            try await shell(
                "mv a ..; cp photo.jpg ../a/b/elsewhere.jpg; rm ../a/b/one.jpg; mv ../a c; cp photo.jpg c/b/two.jpg"
            )
            try await waitForSources("photo.jpg", "a/b/one.jpg", "c/b/elsewhere.jpg", "c/b/two.jpg")
            try await shell("rm -r c; mkdir c; cp photo.jpg c/three.jpg")
            try await waitForSources("photo.jpg", "a/b/one.jpg", "c/b/elsewhere.jpg", "c/b/two.jpg", "c/three.jpg")
            try FileManager.default.moveItem(atPath: deployment.pictures, toPath: deployment.folder.path("gone"))
            #expect(await watch.ending == .exited(1))
            #expect(String(decoding: watch.standardError, as: UTF8.self).contains("pictures is gone"))
        }

        /// The kernel keeps 16,384 events (fs.inotify.max_queued_events) and drops the rest.
        @Test func aBurstThatTheKernelDropsIsWalkedAgain() async throws {
            let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
            let count = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
            let watch = try await watch("-r")
            defer { watch.killGroup() }
            try await waitForSources("photo.jpg")
            watch.send(SIGSTOP)
            // Each file is two events: it is made, and closed.
            try await shell(
                "mkdir new; for n in $(seq \(count / 2 + 100)); do : > $n.txt; done; cp photo.jpg new/last.jpg; rm *.txt"
            )
            watch.send(SIGCONT)
            try await waitForSources("photo.jpg", "new/last.jpg")
            try await shell("cp photo.jpg new/later.jpg")
            try await waitForSources("photo.jpg", "new/last.jpg", "new/later.jpg")
        }
    }
}
