package import ArgumentParser

/// What one part of an option's value sets, such as `contrast=0.9` in `--adjust brightness=1.2,contrast=0.9`.
package struct Change<Target>: Sendable {
    let apply: @Sendable (inout Target) -> Void

    package init(_ apply: @escaping @Sendable (inout Target) -> Void) { self.apply = apply }

    /// Reads comma-separated `name=value`. What has no name belongs to the value before it, or, at the beginning, to the
    /// name "". Options that are read by this may be repeated; of two values with one name the last one counts.
    package static func reading(_ names: [NamedValue<Target>]) -> @Sendable (String) throws -> Change<Target> {
        { text in
            var parts: [(name: String, value: String)] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                let name = part.prefix { $0 != "=" }
                if name.count < part.count, name.allSatisfy({ $0.isLetter || $0 == "-" }) {
                    parts.append((String(name), String(part.dropFirst(name.count + 1))))
                } else if let last = parts.indices.last {
                    parts[last].value += ",\(part)"
                } else {
                    parts.append(("", String(part)))
                }
            }
            let changes = try parts.map { part in
                guard let known = names.first(where: { $0.name == part.name }) else {
                    let forms = names.map { $0.name.isEmpty ? "a value" : "\($0.name)=…" }
                    throw ValidationError("must be \(forms.joined(separator: ", ")), comma-separated")
                }
                return try known.read(part.value)
            }
            return Change { target in for change in changes { change.apply(&target) } }
        }
    }
}

/// A name that an option's value may have, or "" for the value without one, and what it sets.
package struct NamedValue<Target>: Sendable {
    let name: String
    let read: @Sendable (String) throws -> Change<Target>

    package init(_ name: String, _ read: @escaping @Sendable (String) throws -> Change<Target>) {
        (self.name, self.read) = (name, read)
    }

    package init<Value: Sendable>(
        _ name: String,
        _ place: any WritableKeyPath<Target, Value> & Sendable,
        _ read: @escaping @Sendable (String) throws -> Value
    ) {
        self.init(name) { text in
            let value = try read(text)
            return Change { $0[keyPath: place] = value }
        }
    }

    package init<Value: ExpressibleByArgument & Sendable>(
        _ name: String,
        _ place: any WritableKeyPath<Target, Value> & Sendable
    ) {
        self.init(name, place) { try Self.value(of: name, $0) }
    }

    package init<Value: ExpressibleByArgument & Sendable>(
        _ name: String,
        _ place: any WritableKeyPath<Target, Value?> & Sendable
    ) {
        self.init(name, place) { try Self.value(of: name, $0) as Value }
    }

    private static func value<Value: ExpressibleByArgument>(of name: String, _ text: String) throws -> Value {
        if let value = Value(argument: text) { return value }
        throw ValidationError("\(name.isEmpty ? "" : "\(name) ")\(text) cannot be read")
    }
}

extension Array {
    /// Makes the changes, in order.
    package func apply<Target>(to target: inout Target) where Element == Change<Target> {
        for change in self { change.apply(&target) }
    }
}
