internal import CCurl
internal import CameoHTTPCache
internal import CameoModel

extension HTTPAnswer {
    /// The only interpretation of libcurl's result codes. The text of libcurl is quoted, never parsed.
    static func failure(
        of route: HTTPRoute,
        result: TransferResult,
        budget: Duration,
        limits: FetchConfiguration
    ) -> JobFailure {
        let name = route.description
        let reason = CurlError(result.code)
        switch result.code {
        case CURLE_OPERATION_TIMEDOUT:
            return timeout(of: route, result: result, budget: budget, limits: limits)
        case CURLE_FILESIZE_EXCEEDED:
            let announced = (result.announcedBytes ?? result.head?.contentLength).map { "\($0) bytes" } ?? "more bytes"
            return .fetch(
                .sourceTooLarge,
                "\(name) has \(announced), more than the allowed \(limits.maximumBytes)"
            )
        case CURLE_COULDNT_CONNECT where result.attempted.isEmpty:
            guard let refusal = result.refusals.first else { fallthrough }
            return Self.refusal(refusal, of: route)
        case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY,
            CURLE_SSL_CONNECT_ERROR, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING,
            CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR,
            CURLE_AGAIN, CURLE_NO_CONNECTION_AVAILABLE, CURLE_UNRECOVERABLE_POLL:
            return .fetch(.sourceUnreachable, "\(name) cannot be reached: \(reason)")
        case CURLE_PARTIAL_FILE:
            return .fetch(.sourceUnreachable, "\(name) broke off before its end: \(reason)")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CACERT_BADFILE,
            CURLE_SSL_CRL_BADFILE, CURLE_SSL_CLIENTCERT:
            return .fetch(.sourceUnreachable, "\(name) cannot be trusted: \(reason)", isRetryable: false)
        case CURLE_BAD_CONTENT_ENCODING:
            return .fetch(.sourceInvalid, "\(name) is wrongly encoded: \(reason)")
        case CURLE_UNSUPPORTED_PROTOCOL:  // the scheme has been checked, so it is the response: HTTP/0.9
            return .fetch(.sourceInvalid, "\(name) is not served over HTTP/1.0 or later: \(reason)")
        case CURLE_URL_MALFORMAT:
            return .fetch(.sourceInvalid, "\(name) is not a valid URL: \(reason)")
        case CURLE_OUT_OF_MEMORY where result.wasConnected:  // also reported for a head that exceeds libcurl's buffers
            let message = "\(name) answered with a line that is too long, or this machine has no memory: \(reason)"
            return .fetch(.sourceUnreachable, message)
        case CURLE_OUT_OF_MEMORY, CURLE_FAILED_INIT, CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK:
            return .fetch(.storeFailed, "this machine could not fetch \(name): \(reason)", isRetryable: true)
        default:  // codes of other protocols, of unused options, or newer than this switch
            return .fetch(.sourceUnreachable, "\(name) cannot be fetched: \(reason)", isRetryable: false)
        }
    }

    /// Distinguishes three limits for which libcurl has one code. Its timer counts whole milliseconds and may be early.
    private static func timeout(
        of route: HTTPRoute,
        result: TransferResult,
        budget: Duration,
        limits: FetchConfiguration
    ) -> JobFailure {
        if result.elapsed + .milliseconds(10) >= budget { return tooLong(route, limits: limits) }
        guard result.wasConnected else {
            return .fetch(.sourceTimeout, "\(route.description) was not connected within \(limits.connectTimeout)")
        }
        return .fetch(
            .sourceTimeout,
            "\(route.description) sent less than \(limits.lowSpeedBytesPerSecond) bytes a second "
                + "for \(limits.lowSpeedTime)"
        )
    }
}
