/// A file or folder of an export or a report that cannot be written.
package struct ExportError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    package var description: String { "cannot write \(path): \(reason)" }
}
