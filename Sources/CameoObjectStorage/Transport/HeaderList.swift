internal import CCurl

/// Sole owner of a list of header lines.
final class HeaderList {
    private(set) var pointer: UnsafeMutablePointer<curl_slist>?

    /// - Throws: CURLE_OUT_OF_MEMORY
    init(_ headers: [(name: String, value: String)]) throws(CurlCode) {
        for header in headers {
            // The form that libcurl asks for if there is no value (CURLOPT_HTTPHEADER).
            let line = header.value.isEmpty ? "\(header.name);" : "\(header.name): \(header.value)"
            guard let longer = curl_slist_append(pointer, line) else { throw CurlCode(CURLE_OUT_OF_MEMORY) }
            pointer = longer
        }
    }

    deinit { curl_slist_free_all(pointer) }
}
