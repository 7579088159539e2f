import CameoModel
import CameoStore
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
            for (name, reason) in [
                ("b/loop", "a link, but to no file"), ("notes.jpg", "its first bytes are no picture's"),
                ("paper.pdf", "PDF is read only with the worker's --allow-format pdf"),
                ("pipe.jpg", "neither a file nor a folder"),
            ] {
                let line = "skipped \(deployment.pictures)/\(name): \(reason)\n"
                #expect(result.errorText.contains(line), "\(result.errorText)")
            }
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
                (["--forget-deleted", "pictures/photo.jpg"], "--forget-deleted needs a folder: add -r or --watch"),
            ]
        )
        func mistakesAreRefused(arguments: [String], message: String) async throws {
            let result = try await deployment.command("cameo-enqueue", arguments)
            #expect(result.exitStatus == 2 && result.errorText.contains(message), "\(result.errorText)")
        }

        @Test func ofManySkippedFilesTwentyAreNamedAndAllAsJSON() async throws {
            try await shell("for n in $(seq 25); do echo text > $n.txt; done")
            let text = try await enqueue("-r", "pictures").succeeded().errorText
            #expect(text.components(separatedBy: ".txt: its first bytes").count == 21, "\(text)")
            #expect(text.contains("skipped 5 more (--json names all)\n"), "\(text)")
            let result = try await enqueue("-r", "pictures", "--json").succeeded()
            #expect(result.outputText.split(separator: "\n").count == 1, "receipts only")
            let files = try result.errorText.split(separator: "\n").filter { $0.hasPrefix("{") }
                .map { try JSONDecoder().decode([String: String].self, from: Data($0.utf8)) }
            #expect(files.count == 25 && files.allSatisfy { $0["state"] == "skipped" && $0["reason"] != nil })
            #expect(Set(files.compactMap { $0["file"] }).contains("file://\(deployment.pictures)/25.txt"))
        }

        /// That a worker makes frames depends on the program that it has for it.
        @Test(
            arguments: [
                (nil, false), ("--frames /bin/true", true), ("--frames /none", false),
                ("--frames /bin/true --queues other", false),
            ]
        )
        func videosAreTakenWhileALiveWorkerMakesFrames(worker: String?, taken: Bool) async throws {
            let start = Data([0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("isomavc1".utf8))
            try deployment.folder.write(start, to: "pictures/clip.mp4")
            let process = try worker.map { try deployment.startWorker($0) }
            defer { process?.killGroup() }
            if worker != nil {
                try await deployment.waitUntil { try await $0.status().workers.contains { $0.isAlive } }
                let lacks = try await deployment.status().workers[0].lacks ?? []
                #expect(lacks.contains("read:video") == (worker == "--frames /none"))
            }
            let result = try await enqueue("-r", "pictures").succeeded()
            let reason = "mp4: a video, and no live worker is known to make frames"
            #expect(result.errorText.contains("skipped \(deployment.pictures)/clip.\(reason)") != taken)
            let watch = try await watch()
            defer { watch.killGroup() }
            try await shell("cp clip.mp4 new.mp4")
            if taken {
                try await waitForSources("photo.jpg", "clip.mp4", "new.mp4")
            } else {
                try await eventually("the video is skipped") {
                    String(decoding: watch.standardError, as: UTF8.self).contains("pictures/new.\(reason)")
                }
                #expect(try await sources() == ["photo.jpg"])
            }
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

        // MARK: - What goes

        /// The sources with thumbnails, without their folder.
        private func known() async throws -> [String] {
            try await deployment.sql("SELECT DISTINCT source FROM thumbnail ORDER BY source;")
                .split(separator: "\n").map { String($0).replacing("file://\(deployment.pictures)/", with: "") }
        }

        private func waitForKnown(_ expected: String...) async throws {
            try await deployment.waitUntil { _ in try await known() == expected }
        }

        /// Makes thumbnails of copies of the photo.
        private func make(_ names: String...) async throws {
            for name in names { try await shell("mkdir -p $(dirname \(name)); cp photo.jpg \(name)") }
            try await enqueue("-r", "pictures").succeeded()
            try await deployment.drain().succeeded()
        }

        @Test func whatIsDeletedOrRenamedIsForgotten() async throws {
            try await make("a.jpg", "b/1.jpg", "b/c/2.jpg", "d.jpg", "e.jpg", "f/3.jpg", "g/4.jpg")
            let watch = try await watch("-r", "--forget-deleted")
            defer { watch.killGroup() }
            // Two ways in which programs replace a file; its deletion comes too, and the file is there.
            watch.send(SIGSTOP)
            try await watch.hasStopped()
            try await shell("cp a.jpg .new; mv .new a.jpg; mv d.jpg d~; cp a.jpg d.jpg; rm d~; rm e.jpg")
            watch.send(SIGCONT)
            try await waitForKnown("a.jpg", "b/1.jpg", "b/c/2.jpg", "d.jpg", "f/3.jpg", "g/4.jpg", "photo.jpg")
            try await shell("mv b h; rm -r f; mv g ..; mv photo.jpg renamed.jpg")
            try await waitForKnown("a.jpg", "d.jpg")
            try await deployment.waitUntil { _ in
                try await Set(sources().suffix(3)) == ["h/1.jpg", "h/c/2.jpg", "renamed.jpg"]
            }
            // The jobs for what is gone fail.
            _ = try await deployment.drain()
            #expect(try await known() == ["a.jpg", "d.jpg", "h/1.jpg", "h/c/2.jpg", "renamed.jpg"])
            let text = String(decoding: watch.standardError, as: UTF8.self)
            #expect(text.contains("forgotten \(deployment.pictures)/e.jpg: 1 thumbnail\n"), "\(text)")
        }

        @Test func whatWasDeletedWhileNothingRanIsNoticed() async throws {
            try await make("a.jpg", "a.jpg.png", ".hidden/b.jpg", "c/d.jpg", "c/e.jpg", "f/g.jpg")
            try await enqueue("pictures/.hidden/b.jpg").succeeded()
            try await deployment.drain().succeeded()
            try await shell("rm -r a.jpg .hidden c/d.jpg f")
            let all = [".hidden/b.jpg", "a.jpg", "a.jpg.png", "c/d.jpg", "c/e.jpg", "f/g.jpg", "photo.jpg"]
            let told = try await enqueue("-r", "pictures").succeeded().errorText
            for name in ["a.jpg", "c/d.jpg", "f/g.jpg"] {
                #expect(told.contains("deleted \(deployment.pictures)/\(name): its thumbnails stay"), "\(told)")
            }
            #expect(told.components(separatedBy: ": deleted ").count == 4 && !told.contains(".hidden"), "\(told)")
            #expect(try await known() == all)
            // Without -r, only the folder itself.
            let watch = try await watch("--forget-deleted", "--json")
            watch.killGroup()
            #expect(try await known() == all.filter { $0 != "a.jpg" })
            let text = String(decoding: watch.standardError, as: UTF8.self)
            let line = #"{"file":"file://\#(deployment.pictures)/a.jpg","reason":"1 thumbnail","state":"forgotten"}"#
            #expect(text.split(separator: "\n").contains { $0 == line }, "\(text)")
            try await enqueue("-r", "--forget-deleted", "pictures").succeeded()
            #expect(try await known() == [".hidden/b.jpg", "a.jpg.png", "c/e.jpg", "photo.jpg"])
        }

        /// As an unmounted disk leaves it, at the top and below.
        @Test func ofAnEmptyFolderNothingIsForgotten() async throws {
            try await make("usb/a.jpg", "usb/b/c.jpg")
            try await shell("mv usb ..; mkdir usb")
            let below = try await enqueue("-r", "--forget-deleted", "pictures").succeeded().errorText
            let reason = "nothing is left in it, as if its disk were not mounted: 2 sources not forgotten"
            #expect(below.contains("kept \(deployment.pictures)/usb: \(reason)"), "\(below)")
            let watch = try await watch("-r", "--forget-deleted")
            defer { watch.killGroup() }
            try await shell("touch .DS_Store; rmdir usb; rm photo.jpg")
            try await eventually("the folder counts as not mounted") {
                String(decoding: watch.standardError, as: UTF8.self).contains("kept \(deployment.pictures): nothing is")
            }
            try FileManager.default.removeItem(atPath: deployment.pictures)
            #expect(await watch.ending == .exited(1))
            for options in [["-r"], ["--watch"], ["-r", "--watch"]] {
                let gone = try await deployment.command(
                    "cameo-enqueue",
                    options + ["--forget-deleted", "pictures"]
                )
                #expect(gone.exitStatus == 2, "\(gone.errorText)")
            }
            #expect(try await known() == ["photo.jpg", "usb/a.jpg", "usb/b/c.jpg"])
        }
    }
}
