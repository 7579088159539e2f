internal import CCurl
internal import CameoStore

/// libcurl as a whole.
enum CurlLibrary {
    /// The first version with CURLOPT_PROTOCOLS_STR.
    private static let oldest: UInt32 = 0x07_55_00

    private static let started = curl_global_init(cameo_curl_global_default)

    /// Other users of the library in this process start it too, which only a thread-safe one allows at any time.
    static func start() throws(StoreError) {
        guard let version = curl_version_info(cameo_curl_version_now)?.pointee, version.version_num >= oldest,
            version.features & cameo_curl_is_thread_safe != 0
        else { throw .failed("libcurl is too old: a thread-safe 7.85 or later is needed") }
        guard started == CURLE_OK else { throw .failed("libcurl does not start: \(CurlCode(started))") }
    }
}
