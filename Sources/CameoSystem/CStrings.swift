internal import Glibc

/// NULL-terminated arrays of C strings, as exec takes them.
package enum CStrings {
    package static func withPointers<Result>(
        to strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var pointers = strings.map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("the list contains at least NULL") }
            return body(start)
        }
    }
}
