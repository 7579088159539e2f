import CameoModel
import Foundation
import TestSupport

/// The languages of the blocks in the pages. Each is read by the program that reads it where it is used.
enum BlockLanguage: String, CaseIterable {
    case sh, console, python, swift, manifest, json, sql, yaml, ini, env, tokens, nginx, caddyfile, pgbouncer, html, js
    /// What no program reads: drawings, names and answers.
    case text

    /// Whether its program is one of the servers that `deploy/setup servers` installs.
    var needsServers: Bool {
        switch self {
        case .sql, .yaml, .nginx, .caddyfile, .pgbouncer, .html, .js, .tokens: true
        case .sh, .console, .python, .swift, .manifest, .json, .ini, .env, .text: false
        }
    }

    /// What its program must refuse; nil: it is refused elsewhere.
    var broken: String? {
        switch self {
        case .sh: "if true; then\n"
        case .console: "$ cameo-status 'jobs\n"
        case .python: "def a(:\n"
        case .manifest: "targets: [.target(nam: \"App\")]\n"
        case .json: "{\"a\": 1,}\n"
        case .sql: "SELEC 1;\n"
        case .yaml: "scrape_configs:\n  - job: cameo\n"
        case .ini: "# /etc/systemd/system/cameo-worker@pictures.service.d/override.conf\n[Service]\nMemoryHigh=infty\n"
        case .env: "CAMEO STORE=/srv/store\n"
        case .tokens: "alice fly 51c2a7e09b6d4f18\n"
        case .nginx: "location /cameo/ {\n    proxy_pas http://unix:/run/socket;\n}\n"
        case .caddyfile: "pictures.example.com {\n    reverse_proxi unix//run/socket\n}\n"
        case .pgbouncer: "default_pool_size = 20   ; plenty\n"
        case .html: "<script>const a = = 1</script>\n"
        case .js: "const a = = 1\n"
        case .text: "SELECT 1;\n"
        // Compiled by CameoTests/DocumentationTests.
        case .swift: nil
        }
    }

    /// How many blocks of a page no program reads.
    private static let drawings = ["Architecture.md": 3, "SharedBytes.md": 1, "Web.md": 1, "README.md": 1]

    /// What its program has to say against the blocks of a page, in their order; empty: nothing.
    func complaints(about blocks: [String], of page: String) async throws -> String {
        let folder = try TemporaryFolder()
        var complaints = ""
        switch self {
        case .swift: break
        case .text:
            let name = URL(filePath: page).lastPathComponent
            if blocks.count != Self.drawings[name] { complaints = "\(page) has \(blocks.count) blocks of text" }
        case .ini: complaints = try await Units(blocks).complaints()
        case .sql: complaints = try await ofDatabase(blocks, page, folder)
        default: for block in blocks { complaints += try await complaint(about: block, folder) }
        }
        return complaints
    }

    private func complaint(about block: String, _ folder: TemporaryFolder) async throws -> String {
        func file(_ text: String, _ name: String) throws -> String { try folder.write(Data(text.utf8), to: name) }
        func words(_ program: String, _ arguments: [String], _ environment: [String: String?] = [:]) async throws
            -> String
        {
            let result = try await run(
                program,
                arguments,
                environment: environment,
                currentDirectory: folder.url
            )
            return result.exitStatus == 0 ? "" : "\(block)\(result.errorText)\(result.outputText)"
        }
        switch self {
        case .sh: return try await words("bash", ["-n", file(block, "block")])
        case .console: return try await words("bash", ["-n", file(Self.commands(of: block), "block")])
        case .python:
            return try await words("/usr/bin/python3", ["-m", "py_compile", file(block, "block.py")])
        case .manifest:
            let start = "// swift-tools-version: 6.1\nimport PackageDescription\nlet package = Package(name: \"App\",\n"
            _ = try file("\(start)\(block))\n", "Package.swift")
            return try await words("swift", ["package", "dump-package"])
        case .json:
            do { _ = try JSONValue(parsing: block) } catch { return "\(block)\(error)" }
            return ""
        case .yaml where block.contains("scrape_configs"):
            let rules = Repository.file("deploy/monitoring").path
            let here = block.replacing("/etc/prometheus/cameo.rules.yml", with: "\(rules)/cameo.rules.yml")
            return try await words("promtool", ["check", "config", file(here, "prometheus.yml")])
        case .yaml:  // Of Compose: more of it is read by ComposeFileTests.
            let script = "import sys, yaml; assert yaml.safe_load(open(sys.argv[1]))['services']"
            return try await words("/usr/bin/python3", ["-c", script, file(block, "compose.yaml")])
        case .env:
            // What reads environment.d reads as EnvironmentFile= does, and says more; only empty values it does not take.
            let text = block.replacing(#/(?m)^#(?=CAMEO_)/#, with: "").replacing(#/(?m)^\w+=$/#, with: "")
            let place = folder.path("environment.d")
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            _ = try file(text, "environment.d/block.conf")
            let generator = "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"
            let result = try await run(generator, environment: ["XDG_CONFIG_HOME": folder.path, "HOME": folder.path])
            return result.errorText
        case .nginx:
            let block = block.replacing("/var/cache/nginx", with: folder.path)
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            let http = lines.filter { $0.hasPrefix("proxy_cache_path") }.joined(separator: "\n")
            let server = lines.filter { !$0.hasPrefix("proxy_cache_path") }.joined(separator: "\n")
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path)/\($0);"
            }
            let text = """
                pid \(folder.path)/pid; error_log stderr; events {}
                http { access_log off; \(temporary.joined(separator: " ")) \(http)
                server { listen unix:\(folder.path)/socket;
                \(server)
                } }
                """
            return try await words("nginx", ["-t", "-c", file(text, "nginx.conf")], ["PATH": Self.path])
        case .caddyfile:
            let options = ["validate", "--adapter", "caddyfile", "--config", try file(block, "Caddyfile")]
            return try await words("caddy", options, ["HOME": folder.path])
        case .html, .js:
            let script = self == .js ? "<script type=\"module\">\n\(block)</script>" : block
            let watch =
                "<!doctype html><script>addEventListener('error', (e) => { document.title += e.message })</script>"
            let page = try file("\(watch)\n\(script)", "page.html")
            let options = [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.path("profile"))",
            ]
            let shown = try await run("chromium", options + ["--dump-dom", "file://\(page)"]).outputText
            guard shown.contains("</html>") else { return "Chromium shows nothing" }
            return shown.contains("SyntaxError") ? shown : ""
        case .pgbouncer, .tokens: return try await ofServer(block, folder)
        case .swift, .text, .ini, .sql: return ""
        }
    }

    /// What stands behind the prompts, and indented lines that go on from them; the rest is what was answered.
    private static func commands(of block: String) -> String {
        block.split(separator: "\n").compactMap { line in
            if line.hasPrefix("$ ") || line.hasPrefix("# ") { return String(line.dropFirst(2)) }
            return line.hasPrefix("    ") ? String(line) : nil
        }.joined(separator: "\n") + "\n"
    }

    /// What a server says that ends at once, and does not say that it runs.
    private func ofServer(_ block: String, _ folder: TemporaryFolder) async throws -> String {
        let process: ChildProcess
        if self == .tokens {
            let file = try folder.write(Data(block.utf8), to: "tokens")
            let options = [
                "--store", folder.path("store"), "--listen", "unix:\(folder.path("socket"))", "--tokens", file,
            ]
            process = try ChildProcess(try Deployment.executable("cameo-web"), options)
        } else {
            let settings = """
                [databases]
                [pgbouncer]
                listen_port = 6432
                auth_type = any
                unix_socket_dir = \(folder.path)
                \(block)
                """
            let file = try folder.write(Data(settings.utf8), to: "pgbouncer.ini")
            // It refuses to run as root.
            let user = getuid() == 0 ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : []
            for path in [folder.path, file] { chmod(path, 0o777) }
            process = try ChildProcess("/usr/bin/env", user + ["pgbouncer", file], environment: ["PATH": Self.path])
        }
        defer { process.killGroup() }
        var (runs, words) = (false, "")
        try await eventually("it runs, or has ended") {
            let hasEnded = !process.send(0)
            words = String(decoding: process.standardError, as: UTF8.self)
            runs = !process.standardOutput.isEmpty || words.contains("process up")
            return runs || hasEnded
        }
        return runs ? "" : "\(block)\(words)"
    }

    private static let path = "\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"):/usr/sbin"

    /// One after the other, on a store: the article about fleets in PostgreSQL, all others by SQLite's shell.
    private func ofDatabase(_ blocks: [String], _ page: String, _ folder: TemporaryFolder) async throws -> String {
        var complaints = ""
        let isOfFleets = page.hasSuffix("/FromOneToMany.md")
        guard !isOfFleets || Fleet.isBuilt else { return complaints }
        let server = isOfFleets ? try await PostgreSQLServer() : nil
        let store = server?.url(ofSchema: "cameo") ?? folder.path("store")
        let job = try await run(try Deployment.executable("cameo-enqueue"), ["--store", store, "initials:A"])
        guard job.exitStatus == 0 else { return job.errorText }
        let tables = "CREATE SCHEMA shop; CREATE TABLE public.users(id integer, picture text)"
        _ = try await server?.psql(["-c", tables])
        try FileManager.default.copyItem(atPath: try await Pictures.photo("jpg"), toPath: folder.path("cat.jpg"))
        for block in blocks {
            let result =
                if let server {
                    try await server.psql(["-v", "ON_ERROR_STOP=1"], input: block)
                } else {
                    try await run(
                        "sqlite3",
                        ["-bail", "\(store)/cameo.sqlite"],
                        input: Data(block.utf8),
                        currentDirectory: folder.url
                    )
                }
            if result.exitStatus != 0 { complaints += "\(block)\(result.errorText)" }
        }
        return complaints
    }
}
