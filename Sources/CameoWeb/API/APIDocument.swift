internal import CameoModel

// DESIGN. The paths are written in `openapi.json`. The messages are those of `proto-json/`, from the very files (they
// are linked into this folder), as components: what they define within them becomes a component too, and their references are
// rewritten, as generators of clients follow only those to whole components. Three of them are served with this server's
// paths added; these are derived here, so that no message is described twice.

/// The OpenAPI 3.1 description of this server.
enum APIDocument {
    /// A document that is part of the program is malformed.
    struct Malformed: Error {
        let name: String
    }

    /// The JSON text, for a server with a base path.
    static func text(basePath: String) throws -> String {
        var document = try JSONValue(parsing: PackageResources.openapi_json)
        let schemas = try files.map { name, bytes in
            let schema = try JSONValue(parsing: bytes)
            guard case .string(let title) = schema["title"] else { throw Malformed(name: name) }
            return Schema(file: "\(name).schema.json", title: title, json: schema)
        }
        let own = document["components"]["schemas"].members
        let references = References(schemas, besides: own.keys)
        document = references.rewritten(document, in: nil)
        var components: [String: JSONValue] = [:]
        for schema in schemas {
            var members = references.rewritten(schema.json, in: schema.file).members
            for (name, definition) in members.removeValue(forKey: "$defs")?.members ?? [:] {
                let component = references.names["\(schema.file)#/$defs/\(name)"] ?? name
                components[component] = definition
                // Generators name types by titles.
                components[component]?["title"] = .string(component)
            }
            members["$schema"] = nil
            members["$id"] = nil
            components[schema.title] = .object(members)
        }
        components = components.mapValues(forGenerators)
        components.merge(served(components)) { $1 }
        components.merge(document["components"]["schemas"].members) { $1 }
        document["components"]["schemas"] = .object(components)
        document["info"]["version"] = .string(CameoVersion.current)
        document["servers"] = [["url": .string(basePath.isEmpty ? "/" : basePath)]]
        document["paths"] = .object(document["paths"].members.mapValues(withHEAD))
        return document.canonicalText + "\n"
    }

    private struct Schema {
        let file: String
        let title: String
        let json: JSONValue
    }

    private static let files: [(name: String, bytes: [UInt8])] = [
        ("batch-end", PackageResources.batch_end_schema_json),
        ("batch-report", PackageResources.batch_report_schema_json),
        ("enqueue-receipt", PackageResources.enqueue_receipt_schema_json),
        ("job", PackageResources.job_schema_json),
        ("job-change", PackageResources.job_change_schema_json),
        ("job-failure", PackageResources.job_failure_schema_json),
        ("status-report", PackageResources.status_report_schema_json),
        ("thumbnail-facts", PackageResources.thumbnail_facts_schema_json),
        ("thumbnail-request", PackageResources.thumbnail_request_schema_json),
    ]

    /// Turns references between files, and within a file, into references to components. What is not a component of its own
    /// is put in the reference's place.
    private struct References {
        private let schemas: [String: JSONValue]
        /// The components by what the files call them: a file, or a file and `#/$defs/` and a name.
        private(set) var names: [String: String] = [:]

        init(_ schemas: [Schema], besides known: some Sequence<String>) {
            self.schemas = Dictionary(uniqueKeysWithValues: schemas.map { ($0.file, $0.json) })
            var taken = Set(known).union(schemas.map(\.title))
            for schema in schemas {
                names[schema.file] = schema.title
                for (name, definition) in schema.json["$defs"].members.sorted(by: { $0.key < $1.key }) {
                    guard case .string(let title) = definition["title"] else { continue }
                    let component = taken.contains(title) ? schema.title + title : title
                    taken.insert(component)
                    names["\(schema.file)#/$defs/\(name)"] = component
                }
            }
        }

        func rewritten(_ json: JSONValue, in file: String?) -> JSONValue {
            switch json {
            case .array(let values): return .array(values.map { rewritten($0, in: file) })
            case .object(var members):
                guard case .string(let reference)? = members["$ref"] else {
                    return .object(members.mapValues { rewritten($0, in: file) })
                }
                let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                guard let target = parts[0].isEmpty ? file : String(parts[0]), let schema = schemas[target] else {
                    return json
                }
                let path = parts.count == 2 ? String(parts[1]) : ""
                if let name = names[path.isEmpty ? target : "\(target)#\(path)"] {
                    members["$ref"] = .string("#/components/schemas/\(name)")
                    return .object(members)
                }
                members["$ref"] = nil
                let part = path.split(separator: "/").reduce(schema) { $0[String($1)] }
                return .object(rewritten(part, in: target).members.merging(members) { $1 })
            default: return json
            }
        }
    }

    /// A message in words that generators understand. They take `allOf` and `anyOf` for parts that the type is composed of,
    /// upon which openapi-generator leaves its enums out, and of what is absent or true, openapi-python-client makes code
    /// that Python refuses. Of a message with `if`, openapi-generator's client in Python knows no type where another has it.
    private static func forGenerators(_ schema: JSONValue) -> JSONValue {
        var members = schema.members
        guard let properties = members["properties"]?.members else { return schema }
        members["properties"] = .object(
            properties.mapValues { property in
                guard property["const"] == true else { return property }
                return .object(property.members.filter { $0.key != "const" }.merging(["type": "boolean"]) { $1 })
            }
        )
        let conditions = members.filter { ["allOf", "anyOf", "if", "then", "else"].contains($0.key) }
        guard !conditions.isEmpty else { return .object(members) }
        for name in conditions.keys { members[name] = nil }
        return .object(members.merging(["not": ["not": .object(conditions)]]) { $1 })
    }

    /// The messages that are served with paths on this server.
    private static func served(_ components: [String: JSONValue]) -> [String: JSONValue] {
        var thumbnail = components["RequestedThumbnail"] ?? [:]
        thumbnail["title"] = "ServedThumbnail"
        for (name, description) in [
            ("url", "The path of the thumbnail."), ("blobURL", "The path of its current bytes, which never change."),
            ("placeholderURL", "The path of its ThumbHash as a picture."),
        ] {
            thumbnail["properties"][name] = [
                "type": "string", "description": .string("\(description) On this server."),
            ]
        }
        var served = ["ServedThumbnail": thumbnail]
        for (name, title) in [("ServedJob", "Job"), ("ServedReceipt", "EnqueueReceipt")] {
            var message = components[title] ?? [:]
            message["title"] = .string(name)
            message["properties"]["thumbnails"]["items"] = ["$ref": "#/components/schemas/ServedThumbnail"]
            served[name] = message
        }
        return served
    }

    /// Adds the operation HEAD to a path that has GET.
    private static func withHEAD(_ path: JSONValue) -> JSONValue {
        var head = path["get"]
        guard case .string(let id) = head["operationId"] else { return path }
        head["operationId"] = .string("\(id)Head")
        head["responses"] = .object(
            head["responses"].members.mapValues { _ in ["description": "As for GET, without a body."] }
        )
        var path = path
        path["head"] = head
        return path
    }
}

extension JSONValue {
    fileprivate var members: [String: JSONValue] {
        guard case .object(let members) = self else { return [:] }
        return members
    }

    /// A member of an object; an empty object if there is none.
    fileprivate subscript(name: String) -> JSONValue {
        get { members[name] ?? [:] }
        set { self = .object(members.merging([name: newValue]) { $1 }) }
    }
}
