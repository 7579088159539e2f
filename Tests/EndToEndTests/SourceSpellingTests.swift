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
            deployment = try await Deployment.withPhoto()
        }

        /// Runs a script in the folder of pictures.
        private func shell(_ script: String) async throws -> ProcessResult {
            try await deployment.shell(script, in: "pictures")
        }

        private func sources() async throws -> String {
            try await deployment.sql(
                "SELECT group_concat(replace(source, 'file://\(deployment.pictures)/', ''), ' ') "
                    + "FROM (SELECT json_extract(request, '$.source') AS source FROM job ORDER BY id);"
            )
        }

        @Test(arguments: ["-photo.jpg", "-h.jpg", "-0.jpg", "-hq"])
        func aNameThatBeginsWithADashIsNoOption(name: String) async throws {
            let mixed = try await shell("cp photo.jpg ./\(name) && cameo-enqueue *")
            #expect(mixed.exitStatus == 2 && mixed.outputText.isEmpty)
            #expect(
                mixed.errorText.hasPrefix("Error: Unknown option '\(name)'. Write a name that begins with - after --")
            )
            #expect(try await shell("cameo-enqueue --size 64x64 --enlarge *").exitStatus == 2)
            try await shell("cameo-enqueue --json -- *").succeeded()
            #expect(try await sources() == "\(name) photo.jpg")
        }

        @Test func whatComesInAListIsNoOption() async throws {
            let list = try await shell(
                "cp photo.jpg ./--json && cp photo.jpg ./-; printf '%s\\n' --json - | cameo-enqueue -"
            )
            .succeeded()
            #expect(list.outputText.split(separator: "\n").count == 2 && !list.outputText.contains("{"))
            #expect(try await sources() == "--json -")
        }

        @Test(arguments: ["cameo-enqueue -0", "cameo-enqueue -0 -", "cameo-enqueue - --null"])
        func aListMayHaveNULs(command: String) async throws {
            try await shell(
                "cp photo.jpg $'two\\nlines .jpg' && rm photo.jpg; find . -type f -print0 | \(command)"
            ).succeeded()
            #expect(try await sources() == "two%0Alines%20.jpg")
        }

        /// By every way to enqueue, and to the end: the worker reads the file with exactly these bytes.
        @Test(arguments: [
            "cameo-enqueue caf*.jpg", "cameo-enqueue 'caf*.jpg'", "ls caf* | cameo-enqueue -",
            "cameo-enqueue -- \"$PWD\"/caf*",
        ])
        func aNameThatIsNoUTF8Works(command: String) async throws {
            try await shell("mv photo.jpg $'caf\\xe9 \\xc3\\xa9.jpg' && \(command)").succeeded()
            #expect(try await sources() == "caf%E9%20%C3%A9.jpg")
            try await deployment.drain().succeeded()
            let shown = try await deployment.command("cameo-status jobs")
            #expect(shown.outputText.contains("pictures/caf%E9 é.jpg"), "\(shown.outputText)")
        }

        /// A worker starts there and reads there, told or untold.
        @Test(arguments: ["", "--allow-root .", "--allow-root \"$PWD\"", "--allow-root /"])
        func aFolderOfAnyNameIsRead(option: String) async throws {
            try await shell(
                "mkdir $'caf\\xe9' && cd $'caf\\xe9' && cp ../photo.jpg . && cameo-enqueue photo.jpg && "
                    + "cameo-worker --drain \(option)"
            ).succeeded()
            #expect(try await deployment.status().count(.completed) == 1)
        }

        @Test func aStoreInAFolderOfAnyNameIsUsed() async throws {
            let result = try await shell(
                "mkdir $'caf\\xe9' && cd $'caf\\xe9' && cp ../photo.jpg . && export CAMEO_STORE=store && cameo-enqueue photo.jpg && "
                    + "cameo-worker --drain && "
                    + "cameo-admin check"
            ).succeeded()
            #expect(result.errorText.contains("completed  attempt=1"), "\(result.errorText)")
        }

        @Test func oneThatIsNotThereIsNamedByItself() async throws {
            let result = try await shell("printf 'photo.jpg\\ncaf\\xe9.jpg\\n' | cameo-enqueue -")
            #expect(result.exitStatus == 2)
            #expect(
                result.errorText.hasPrefix("cameo-enqueue: line 2 of the list, caf\\xE9.jpg: there is no such file")
            )
            let option = try await shell("cameo-enqueue photo.jpg --batch $'caf\\xe9'")
            #expect(
                option.exitStatus == 2 && option.errorText.contains("'caf\\xE9' is not UTF-8"),
                "\(option.errorText)"
            )
            let other = try await shell("cameo-status job $'caf\\xe9'")
            #expect(other.exitStatus == 2 && other.errorText.contains("'caf\\xE9' is not UTF-8"), "\(other.errorText)")
        }

        @Test func originalsAreForgottenByTheSameNames() async throws {
            _ = try await deployment.enqueue("pictures/photo.jpg")
            let script = "cp photo.jpg $'caf\\xe9.jpg'; printf 'caf\\xe9.jpg\\0' | cameo-admin forget -0"
            let result = try await shell("\(script); cameo-admin forget -- $'caf\\xe9.jpg'")
            let line = "cameo-admin: nothing is stored for file://\(deployment.pictures)/caf%E9.jpg\n"
            #expect(result.exitStatus == 1 && result.errorText == line + line, "\(result.errorText)")
        }
    }
}
