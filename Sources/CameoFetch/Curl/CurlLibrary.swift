internal import CCurl

/// libcurl as a whole.
enum CurlLibrary {
    /// The first version with CURLOPT_PROTOCOLS_STR.
    private static let oldest: UInt32 = 0x07_55_00

    /// A global is initialized once, whatever number of threads ask; curl_global_init must not run twice at a time.
    private static let started = curl_global_init(cameo_curl_global_default)

    static func start() throws(FetchConfigurationError) {
        guard started == CURLE_OK else { throw .library("does not start: \(CurlError(started))") }
        guard let version = curl_version_info(cameo_curl_version_now)?.pointee else { throw .library("has no version") }
        guard version.version_num >= oldest else {
            throw .library("\(String(cString: version.version)) is too old; 7.85 or later is needed")
        }
        guard version.features & cameo_curl_has_async_dns != 0 else {
            throw .library("was built without a resolver that leaves the transfers running")
        }
    }
}
