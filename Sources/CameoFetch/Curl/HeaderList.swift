internal import CCurl

/// Sole owner of a list of header lines.
struct HeaderList: ~Copyable {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    deinit { curl_slist_free_all(pointer) }

    /// - Parameter line: `Name: value`, or `Name;` for a header without a value (CURLOPT_HTTPHEADER).
    /// - Throws: CURLE_OUT_OF_MEMORY.
    mutating func append(_ line: String) throws(CurlError) {
        guard let longer = curl_slist_append(pointer, line) else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        pointer = longer
    }
}
