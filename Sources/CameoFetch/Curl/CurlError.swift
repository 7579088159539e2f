internal import CCurl

/// A result code of libcurl's easy interface, with its text.
struct CurlError: Error, Sendable, CustomStringConvertible {
    let code: CURLcode

    init(_ code: CURLcode) {
        self.code = code
    }

    var description: String { String(cString: curl_easy_strerror(code)) }
}
