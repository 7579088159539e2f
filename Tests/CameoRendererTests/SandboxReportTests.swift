import CameoModel
import CameoRenderMessages
import CameoRenderer
import CameoSystem
import Foundation
import TestSupport
import Testing

/// The layers in force, as the kernel and the renderer report them, and the effect of a missing one.
@Suite(.timeLimit(.minutes(10)))
struct SandboxReportTests {
    private static var hardCoreLimit: Int {
        var limit = rlimit()
        getrlimit(Int32(RLIMIT_CORE.rawValue), &limit)
        return Int(clamping: limit.rlim_max)
    }

    @Test func layersAndLimitsAreInForceAsTheKernelSeesIt() async throws {
        try await Jail.with { jail in
            _ = try await jail.pool.render(Rendition(width: 8), of: Pictures.plain(30, 20))
            #expect(try Set(jail.status("NoNewPrivs")) == ["1"])
            #expect(try Set(jail.status("Seccomp")) == ["2"])
            for name in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
                #expect(try Set(jail.status(name)) == ["0000000000000000"], "\(name)")
            }
            #expect(jail.pool.missingSandboxLayers.isEmpty)
            let process = try #require(jail.processes.first)
            let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8).split(separator: "\n")
            // A core limit of 1 disables dumps for every kind of core_pattern; a hard limit of 0 stays 0.
            let core = getuid() == 0 ? 1 : min(1, Self.hardCoreLimit)
            for (name, value) in [
                ("Max address space", 1_536 << 20), ("Max file size", 0), ("Max open files", 32),
                ("Max core file size", core),
            ] {
                let line = try #require(limits.first { $0.hasPrefix(name) })
                let words = line.dropFirst(name.count).split(separator: " ").prefix(2)
                #expect(words.elementsEqual(["\(value)", "\(value)"]), "\(line)")
            }
        }
    }

    @Test(arguments: ["no_new_privs", "Landlock", "seccomp", "capset"])
    func kernelWithoutALayerIsReportedAndServesAllTheSame(_ layer: String) async throws {
        try await Jail.with(without: layer) { jail in
            let picture = try await jail.pool.render(Rendition(width: 64), of: Pictures.photo("jpg"))
            #expect(picture.renditions[0].edges == [64, 43])
            #expect(jail.pool.missingSandboxLayers.contains(layer))
        }
    }

    @Test(arguments: ["no_new_privs", "Landlock", "seccomp", "capset"])
    func requiredSandboxThatLacksALayerStartsNoRenderer(_ layer: String) async throws {
        try await Jail.with(without: layer, requiresSandbox: true) { jail in
            let error = await #expect(throws: RendererUnavailable.self) { try await jail.pool.waitUntilReady() }
            #expect(error?.description.contains("lacks") == true)
            #expect(error?.description.contains(layer) == true)
        }
    }

    @Test func requiredSandboxThatIsCompleteServes() async throws {
        try await Jail.with(requiresSandbox: true) { jail in
            try await jail.pool.waitUntilReady()
            let picture = try await jail.pool.render(Rendition(width: 8), of: Pictures.plain(30, 20))
            #expect(picture.renditions.count == 1)
        }
    }

    /// A folder that cannot be opened is skipped, and must not disable the layer.
    @Test func oddFontFolderLeavesTheFilesClosed() async throws {
        let folder = try TemporaryFolder()
        let (loop, secret) = (folder.path("loop"), try folder.write(Data("secret".utf8), to: "secret"))
        #expect(symlink(loop, loop) == 0)
        let script = "#!/bin/sh\nCAMEO_TEST_FOLDER=\(loop) exec '\(Renderers.hooked)' \"$@\"\n"
        let path = try folder.write(Data(script.utf8), to: "cameo-renderer")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        try await Renderers.withPool(RendererConfiguration(executable: path, processes: 1)) { pool in
            let words = Data("CAMEO-TEST-TRY open \(O_RDONLY) \(secret)".utf8)
            let file = try OpenFile.memory(containing: words)
            let failure = await failure { try await pool.render([Rendition(width: 8)], of: file, named: "it") }
            #expect(pool.missingSandboxLayers.isEmpty)
            #expect(failure?.message.contains("was refused") == true, "\(failure?.message ?? "")")
        }
    }

    /// Processor time is always limited, even if the worker's own limit is lower than the renderer's.
    @Test func processorTimeIsLimitedToWhatTheWorkerMayGive() async throws {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 4_000, rlim_max: 5_000)
            #expect(setrlimit(Int32(RLIMIT_CPU.rawValue), &limit) == 0)
            try await Renderers.withPool { pool in
                _ = try await pool.render(Rendition(width: 8), of: Pictures.plain(30, 20), timeout: .seconds(9_000))
                let limits = try pool.statistics.processes.map {
                    try String(contentsOfFile: "/proc/\($0)/limits", encoding: .utf8)
                }
                let line = limits.joined(separator: "\n").split(separator: "\n").first {
                    $0.hasPrefix("Max cpu time") && $0.split(separator: " ").dropFirst(3).first == "5000"
                }
                #expect(line != nil)
            }
        }
    }
}
