import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// `deploy/container/compose.yaml`, as far as it can be checked without a compose program, which has to get images.
    @Suite(.timeLimit(.minutes(10)))
    struct ComposeFileTests {
        private struct Document: Decodable {
            struct Service: Decodable {
                struct Build: Decodable {
                    let context: String
                    let dockerfile: String
                    let args: [String: String]
                }
                struct Deployment: Decodable {
                    let replicas: Int
                }
                struct Dependency: Decodable {
                    let condition: String
                }

                let image: String
                let build: Build?
                let deploy: Deployment?
                let entrypoint: [String]?
                let environment: [String: String]
                let volumes: [String]
                let dependencies: [String: Dependency]?
                let gracePeriod: String?

                enum CodingKeys: String, CodingKey {
                    case image, build, deploy, entrypoint, environment, volumes
                    case dependencies = "depends_on"
                    case gracePeriod = "stop_grace_period"
                }
            }

            let services: [String: Service]
            let volumes: [String: String?]
        }

        private static let folder = Repository.file("deploy/container")

        private func document() async throws -> Document {
            try await document(try Data(contentsOf: Self.folder.appending(path: "compose.yaml")))
        }

        private func document(_ text: Data) async throws -> Document {
            let script = "import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)"
            let result = try await run("/usr/bin/python3", ["-c", script], input: text)
            try #require(result.exitStatus == 0, "\(result.errorText)")
            return try JSONDecoder().decode(Document.self, from: result.standardOutput)
        }

        @Test func itHasADatabaseThreeWorkersAndAServer() async throws {
            let document = try await document()
            #expect(document.services.keys.sorted() == ["database", "web", "worker"])
            let (worker, web) = (try #require(document.services["worker"]), try #require(document.services["web"]))
            #expect(worker.deploy?.replicas == 3 && worker.entrypoint == nil && web.entrypoint == ["cameo-web"])
            for service in [worker, web] {
                #expect(service.dependencies?["database"]?.condition == "service_healthy")
                #expect(service.environment["CAMEO_STORE"] == "postgres://pictures@database/pictures")
            }
            let places = [worker, web].map { $0.environment["CAMEO_BLOBS"] }
            let place = try #require(places[0])
            #expect(places[1] == place && worker.volumes == web.volumes && worker.volumes[0].hasSuffix(":\(place)"))
            let named = Set(document.services.values.flatMap(\.volumes).compactMap { $0.split(separator: ":").first })
            #expect(named == Set(document.volumes.keys.map { Substring($0) }))
            // Longer than the worker's own grace.
            let grace = try #require(worker.environment["CAMEO_GRACE"].flatMap { Int($0.dropLast()) })
            #expect(try #require(worker.gracePeriod.flatMap { Int($0.dropLast()) }) > grace)
        }

        @Test func itsImageIsBuiltByTheContainerfileBesideIt() async throws {
            let built = try await document().services.values.compactMap(\.build)
            #expect(built.count == 2)
            for build in built {
                let context = Self.folder.appending(path: build.context).standardizedFileURL.path
                #expect(context.trimmingSuffix("/") == Repository.root.path.trimmingSuffix("/"))
                let file = try String(contentsOf: Repository.file(build.dockerfile), encoding: .utf8)
                #expect(build.args == ["FLEET": "1"])
                for name in build.args.keys { #expect(file.contains("\nARG \(name)=\n")) }
            }
        }

        @Test(
            arguments: [("worker", "cameo-worker", "CAMEO_")]
                + (Deployment.hasWeb ? [("web", "cameo-web", "CAMEO_WEB_")] : [])
        )
        func everyVariableIsAnOption(service: String, command: String, prefix: String) async throws {
            let help = try await run(try Deployment.executable(command), ["--help"]).outputText
            let options = Set(help.matches(of: #/--[a-z-]+/#).map { String($0.output) })
            let recipe = try #require(try Page.article("HowDoI").blocks.first { $0.language == "yaml" })
            let services = [try await document(), try await document(Data(recipe.text.utf8))].map(\.services[service])
            let variables = try services.flatMap { try #require($0).environment }
            for (name, value) in variables where !["CAMEO_STORE", "CAMEO_BLOBS", "PGPASSWORD"].contains(name) {
                let option = "--" + name.dropFirst(prefix.count).lowercased().replacing("_", with: "-")
                #expect(name.hasPrefix(prefix) && options.contains(option) && !value.isEmpty, "\(name)")
            }
        }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast()) : self }
}
