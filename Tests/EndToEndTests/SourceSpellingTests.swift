import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// File names as they occur: with a leading dash, spaces, line ends, or bytes that are not UTF-8.
    @Suite(.timeLimit(.minutes(10)))
    struct SourceSpellingTests {
        private let deployment: Deployment

        init() async throws {
            deployment = try Deployment()
            try deployment.add(try await Pictures.photo("jpg"), as: "photo.jpg")
        }

        /// Runs a script in the folder of pictures, with `enqueue` for the command.
        private func shell(_ script: String) async throws -> ProcessResult {
            let enqueue = "enqueue() { '\(try Deployment.executable("cameo-enqueue"))' \"$@\"; }"
            return try await run(
                "/bin/bash",
                ["-c", "\(enqueue); cd pictures && \(script)"],
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            )
        }

        private func sources() async throws -> String {
            try await deployment.sql(
                "SELECT group_concat(replace(source, 'file://\(deployment.pictures)/', ''), ' ') "
                    + "FROM (SELECT json_extract(request, '$.source') AS source FROM job ORDER BY id);"
            )
        }

        @Test(arguments: ["-photo.jpg", "-h.jpg", "-0.jpg", "-hq"])
        func aNameThatBeginsWithADashIsNoOption(name: String) async throws {
            let mixed = try await shell("cp photo.jpg ./\(name) && enqueue *")
            #expect(mixed.exitStatus == 2 && mixed.outputText.isEmpty)
            #expect(
                mixed.errorText.hasPrefix("Error: Unknown option '\(name)'. Write a name that begins with - after --")
            )
            #expect(try await shell("enqueue --size 64x64 --enlarge *").exitStatus == 2)
            let behind = try await shell("enqueue --json -- *")
            #expect(behind.exitStatus == 0, "\(behind.errorText)")
            #expect(try await sources() == "\(name) photo.jpg")
        }

        @Test func whatComesInAListIsNoOption() async throws {
            let list = try await shell("cp photo.jpg ./--json && cp photo.jpg ./-; printf '%s\\n' --json - | enqueue -")
            #expect(list.exitStatus == 0, "\(list.errorText)")
            #expect(list.outputText.split(separator: "\n").count == 2 && !list.outputText.contains("{"))
            #expect(try await sources() == "--json -")
        }

        @Test(arguments: ["enqueue -0", "enqueue -0 -", "enqueue - --null"])
        func aListMayHaveNULs(command: String) async throws {
            let list = try await shell(
                "cp photo.jpg $'two\\nlines .jpg' && rm photo.jpg; find . -type f -print0 | \(command)"
            )
            #expect(list.exitStatus == 0, "\(list.errorText)")
            #expect(try await sources() == "two%0Alines%20.jpg")
        }

        @Test func onlyAListHasSeparators() async throws {
            let result = try await shell("enqueue -0 photo.jpg")
            #expect(result.exitStatus == 2 && result.errorText.contains("-0 needs a list"), "\(result.errorText)")
        }

        /// By every way to enqueue, and to the end: the worker reads the file with exactly these bytes.
        @Test(arguments: ["enqueue caf*.jpg", "enqueue 'caf*.jpg'", "ls caf* | enqueue -", "enqueue -- \"$PWD\"/caf*"])
        func aNameThatIsNoUTF8Works(command: String) async throws {
            let result = try await shell("mv photo.jpg $'caf\\xe9 \\xc3\\xa9.jpg' && \(command)")
            #expect(result.exitStatus == 0, "\(result.errorText)")
            #expect(try await sources() == "caf%E9%20%C3%A9.jpg")
            let drained = try await deployment.drain()
            #expect(drained.exitStatus == 0, "\(drained.errorText)")
            let shown = try await deployment.command("cameo-status", ["jobs"])
            #expect(shown.outputText.contains("pictures/caf%E9 é.jpg"), "\(shown.outputText)")
        }

        /// A worker starts there and reads there, told or untold.
        @Test(arguments: ["", "--allow-root .", "--allow-root \"$PWD\"", "--allow-root /"])
        func aFolderOfAnyNameIsRead(option: String) async throws {
            let result = try await shell(
                "mkdir $'caf\\xe9' && cd $'caf\\xe9' && cp ../photo.jpg . && enqueue photo.jpg && "
                    + "'\(try Deployment.executable("cameo-worker"))' --drain \(option)"
            )
            #expect(result.exitStatus == 0, "\(result.errorText)")
            #expect(try await deployment.status().count(.completed) == 1)
        }

        @Test func aStoreInAFolderOfAnyNameIsUsed() async throws {
            let result = try await shell(
                "mkdir $'caf\\xe9' && cd $'caf\\xe9' && cp ../photo.jpg . && export CAMEO_STORE=store && enqueue photo.jpg && "
                    + "'\(try Deployment.executable("cameo-worker"))' --drain && "
                    + "'\(try Deployment.executable("cameo-admin"))' check"
            )
            #expect(result.exitStatus == 0, "\(result.errorText)")
            #expect(result.errorText.contains("completed  attempt=1"), "\(result.errorText)")
        }

        @Test func oneThatIsNotThereIsNamedByItself() async throws {
            let result = try await shell("printf 'photo.jpg\\ncaf\\xe9.jpg\\n' | enqueue -")
            #expect(result.exitStatus == 2)
            #expect(
                result.errorText.hasPrefix("cameo-enqueue: line 2 of the list, caf\\xE9.jpg: there is no such file")
            )
            let option = try await shell("enqueue photo.jpg --batch $'caf\\xe9'")
            #expect(
                option.exitStatus == 2 && option.errorText.contains("'caf\\xE9' is not UTF-8"),
                "\(option.errorText)"
            )
            let other = try await run(
                "/bin/bash",
                ["-c", "'\(try Deployment.executable("cameo-status"))' job $'caf\\xe9'"],
                environment: ["CAMEO_STORE": deployment.store]
            )
            #expect(other.exitStatus == 2 && other.errorText.contains("'caf\\xE9' is not UTF-8"), "\(other.errorText)")
        }

        @Test func originalsAreForgottenByTheSameNames() async throws {
            let script =
                "cp photo.jpg $'caf\\xe9.jpg'; printf 'caf\\xe9.jpg\\0' | \"$0\" forget -0; \"$0\" forget -- $'caf\\xe9.jpg'"
            _ = try await deployment.enqueue("pictures/photo.jpg")
            let result = try await run(
                "/bin/bash",
                ["-c", script, try Deployment.executable("cameo-admin")],
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: URL(filePath: deployment.pictures)
            )
            let line = "cameo-admin: nothing is stored for file://\(deployment.pictures)/caf%E9.jpg\n"
            #expect(result.exitStatus == 1 && result.errorText == line + line, "\(result.errorText)")
        }
    }
}
