import CameoModel
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `deploy/systemd`, checked by systemd's own tools and by real workers under the unit's filter. Tests cannot start
    /// the unit itself, because systemd would have to be the first process.
    @Suite(
        .timeLimit(.minutes(10)),
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"), "needs systemd-analyze")
    )
    struct ServiceUnitTests {
        private static let unit = file("cameo-worker@.service")

        private static func file(_ name: String) -> String { Repository.file("deploy/systemd/\(name)").path }

        private func settings(_ command: String = "cameo-worker") throws -> [(name: String, value: String)] {
            let text = try String(contentsOfFile: Self.file("\(command)@.service"), encoding: .utf8)
            return text.split(separator: "\n").compactMap { line in
                guard let equals = line.firstIndex(of: "="), !line.hasPrefix("#") else { return nil }
                return (String(line[..<equals]), String(line[line.index(after: equals)...]))
            }
        }

        private func value(_ name: String) throws -> String {
            try #require(try settings().first { $0.name == name }?.value, "\(name)")
        }

        /// The unit, with the path of the built command instead of the installed one.
        private func installed(_ command: String, in folder: TemporaryFolder) throws -> String {
            let text = try String(contentsOfFile: Self.file("\(command)@.service"), encoding: .utf8)
            let path = try Deployment.executable(command)
            let here = text.replacing("ExecStart=/usr/bin/\(command)\n", with: "ExecStart=\(path)\n")
            #expect(here != text)
            return try folder.write(Data(here.utf8), to: "\(command)@.service")
        }

        @Test(arguments: Deployment.hasWeb ? ["cameo-worker", "cameo-web"] : ["cameo-worker"])
        func systemdUnderstandsAllOfIt(command: String) async throws {
            let folder = try TemporaryFolder()
            _ = try installed(command, in: folder)
            #expect(try await Units.complaints(about: [folder.path("\(command)@pictures.service")]) == "")
        }

        @Test func systemdUnderstandsTheSocket() async throws {
            let folder = try TemporaryFolder()
            _ = try installed("cameo-web", in: folder)
            try folder.write(
                try Data(contentsOf: URL(filePath: Self.file("cameo-web@.socket"))),
                to: "cameo-web@.socket"
            )
            #expect(try await Units.complaints(about: [folder.path("cameo-web@pictures.socket")]) == "")
        }

        @Test(arguments: ["cameo-worker", "cameo-web"])
        func systemdFindsItHardened(command: String) async throws {
            let folder = try TemporaryFolder()
            let unit = try installed(command, in: folder)
            // In tenths, out of 100.
            let result = try await run("systemd-analyze", ["security", "--offline=true", "--threshold=20", unit])
            #expect(result.exitStatus == 0, "\(result.outputText.suffix(200))")
        }

        @Test(arguments: [("cameo-worker", "CAMEO_")] + (Deployment.hasWeb ? [("cameo-web", "CAMEO_WEB_")] : []))
        func everyVariableIsAnOption(command: String, prefix: String) async throws {
            let help = try await run(try Deployment.executable(command), ["--help"]).outputText
            let options = Set(help.matches(of: #/--[a-z-]+/#).map { String($0.output) })
            let text = try String(contentsOfFile: Self.file("\(command).conf"), encoding: .utf8)
            let variables =
                text.matches(of: #/(?m)^#?(CAMEO_[A-Z_]+)=/#).map { String($0.output.1) }
                + (try settings(command).filter { $0.name == "Environment" }).compactMap { setting in
                    setting.value.firstMatch(of: #/^(CAMEO_[A-Z_]+)=/#).map { String($0.output.1) }
                }
            #expect(variables.count >= 8)
            for variable in variables where variable != "CAMEO_STORE" {
                let option = "--" + variable.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
                #expect(variable.hasPrefix(prefix) && options.contains(option), "\(variable)")
            }
            for line in text.split(separator: "\n") where !line.hasPrefix("#") {
                #expect(line.contains(#/^CAMEO_[A-Z_]+=\S+$/#), "\(line)")
            }
        }

        /// Where a store of several machines is, before the settings of each program, which may override it.
        @Test(arguments: ["cameo-worker", "cameo-web"])
        func theNameOfAStoreMayBeInAFileOfItsOwn(command: String) throws {
            let files = try settings(command).filter { $0.name == "EnvironmentFile" }.map(\.value)
            let own = command == "cameo-web" ? "-/etc/cameo/%i-web.conf" : "-/etc/cameo/%i.conf"
            #expect(files == ["-/etc/cameo/%i.store", own])
            let text = try String(contentsOfFile: Self.file("cameo.store"), encoding: .utf8)
            let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
            let names = lines.compactMap { $0.firstMatch(of: #/^([A-Z_]+)=('[^' ]+'|[^' &]*)$/#)?.output.1 }
            #expect(
                names == ["CAMEO_STORE", "PGPASSFILE", "CAMEO_BLOBS", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
                    && names.count == lines.count
            )
        }

        @Test func itEndsAWorkerNoSoonerThanTheWorkerItself() async throws {
            let help = try await run(try Deployment.executable("cameo-worker"), ["--help"]).outputText
            let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            let grace = try #require(words.firstMatch(of: #/--grace <duration>.*?\(default: ([0-9.]+)s\)/#)?.output.1)
            #expect(try #require(Double(try value("TimeoutStopSec"))) >= #require(Double(grace)) + 10)
            #expect(try value("KillMode") == "mixed")
            // Bad usage, as the worker's help lists it.
            #expect(try value("RestartPreventExitStatus") == "2" && words.contains("2 bad usage"))
        }

        @Test(.enabled(if: SystemCallFilter.isAvailable, "needs python3-seccomp"))
        func aWorkerAndItsRenderersWorkUnderTheUnitsFilter() async throws {
            let deployment = try Deployment()
            for kind in ["jpg", "png", "webp"] {
                try deployment.add(try await Pictures.photo(kind), as: "photo.\(kind)")
            }
            let receipts = try await deployment.enqueue("pictures/* --size 64x64:cover --size 300x:jpeg")
            #expect(receipts.count == 3)
            let script = Repository.file("Tests/EndToEndTests/seccomp_run.py").path
            let result = try await run(
                "/usr/bin/python3",
                [
                    script, Self.unit, try Deployment.executable("cameo-worker"), "--drain", "--require-sandbox",
                    "--allow-root", deployment.pictures,
                ],
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            ).succeeded()
            #expect(result.outputText.contains("3 completed"))
            let refused = try await run("/usr/bin/python3", [script, Self.unit, "/bin/chown", "0", deployment.store])
            #expect(refused.errorText.contains("Operation not permitted"), "the filter was there")
        }

        @Test(
            .enabled(if: SystemCallFilter.isAvailable, "needs python3-seccomp"),
            arguments: [
                ("openat2=EPERM", "cameo-worker", "--drain"), ("openat2=ENOSYS", "cameo-worker", "--drain"),
                ("clone3=EPERM", "cameo-worker", "--version"), ("clone3=EPERM", "cameo-status", "--version"),
                ("clone3=EPERM", "cameo-enqueue", "photo.jpg"),
            ]
        )
        func aCallThatTheHostRefusesIsNamedAtTheStart(refusal: String, command: String, argument: String) async throws {
            let deployment = try Deployment()
            let script = Repository.file("Tests/EndToEndTests/seccomp_run.py").path
            let result = try await run(
                "/usr/bin/python3",
                [script, refusal, try Deployment.executable(command), argument],
                environment: ["CAMEO_STORE": deployment.store],
                currentDirectory: deployment.folder.url
            )
            let call = try #require(refusal.split(separator: "=").first)
            #expect(result.exitStatus != 0 && result.errorText.contains("refuses the system call \(call)"))
        }

        @Test(.enabled(if: SystemCallFilter.isAvailable, "needs python3-seccomp"))
        func withoutClone3ThreadsBeginAsBefore() async throws {
            let script = Repository.file("Tests/EndToEndTests/seccomp_run.py").path
            let result = try await run(
                "/usr/bin/python3",
                [script, "clone3=ENOSYS", try Deployment.executable("cameo-status"), "--version"]
            )
            #expect(result.exitStatus == 0 && !result.outputText.isEmpty)
        }

        @Test func aWorkerHasARendererForEachProcessorThatItMayUse() async throws {
            let deployment = try Deployment()
            _ = try await deployment.enqueue("initials:AB --size 16x16")
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let allowed = try #require(status.firstMatch(of: #/Cpus_allowed_list:\s*(\d+)/#)?.output.1)
            let result = try await run(
                "/usr/bin/taskset",
                ["-c", String(allowed), try Deployment.executable("cameo-worker"), "--drain"],
                environment: ["CAMEO_STORE": deployment.store, "CAMEO_LOG_LEVEL": "info"],
                currentDirectory: deployment.folder.url
            )
            #expect(result.exitStatus == 0 && result.errorText.contains("renderers=1 "), "\(result.errorText)")
        }
    }

    /// Whether a system call filter can be loaded by libseccomp.
    enum SystemCallFilter {
        static let isAvailable =
            (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib/python3/dist-packages"))?
            .contains { $0.hasPrefix("seccomp.") } ?? false
    }
}
