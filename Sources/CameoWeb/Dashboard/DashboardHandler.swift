internal import CameoHTTPCache
internal import CameoModel
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Serves the page at `/` with its style sheet and script. The page loads nothing from other hosts and never interprets
/// data as markup.
struct DashboardHandler {
    let request: Request
    let target: RequestTarget

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private struct Page: Sendable {
        let mediaType: String
        let bytes: [UInt8]
        let tag: String

        init(_ mediaType: String, _ bytes: [UInt8]) {
            (self.mediaType, self.bytes) = (mediaType, bytes)
            tag = "\"\(SHA256.digest(of: bytes))\""
        }
    }

    private static let pages: [String: Page] = [
        "": Page("text/html; charset=utf-8", PackageResources.dashboard_html),
        "dashboard.css": Page("text/css; charset=utf-8", PackageResources.dashboard_css),
        "dashboard.js": Page("text/javascript; charset=utf-8", PackageResources.dashboard_js),
    ]

    func answer() throws(Problem) -> Response {
        guard let page = Self.pages[String(target.path)] else {
            throw Problem(.notFound, "there is nothing at this path")
        }
        let headers: HTTPFields = [
            .contentType: page.mediaType, .eTag: page.tag, .cacheControl: "no-cache",
            .contentSecurityPolicy: Self.policy,
        ]
        guard !RequestConditions(request).isNotModified(entityTag: page.tag, lastModified: nil) else {
            return Response(status: .notModified, headers: headers)
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
    }
}
