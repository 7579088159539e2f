internal import CameoHTTPCache
internal import CameoModel
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Serves the page at `/`, and its style sheet and scripts below `/page/`. The page loads nothing from other hosts, except
/// pictures from where blobs are redirected to, and never interprets data as markup.
extension WebExchange {
    private var pagePolicy: String {
        let pictures = site.configuration.redirects.map { " \($0.origin)" } ?? ""
        return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:\(pictures); "
            + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    private struct Page: Sendable {
        let mediaType: String
        let bytes: [UInt8]
        let tag: String

        init(_ mediaType: String, _ bytes: [UInt8]) {
            (self.mediaType, self.bytes) = (mediaType, bytes)
            tag = "\"\(SHA256.digest(of: bytes))\""
        }

        static func script(_ bytes: [UInt8]) -> Page { Page("text/javascript; charset=utf-8", bytes) }
    }

    private static let pages: [String: Page] = [
        "": Page("text/html; charset=utf-8", PackageResources.dashboard_html),
        "page/dashboard.css": Page("text/css; charset=utf-8", PackageResources.dashboard_css),
        "page/favicon.svg": Page("image/svg+xml", PackageResources.favicon_svg),
        "page/address.js": .script(PackageResources.address_js),
        "page/batches.js": .script(PackageResources.batches_js),
        "page/changes.js": .script(PackageResources.changes_js),
        "page/dashboard.js": .script(PackageResources.dashboard_js),
        "page/elements.js": .script(PackageResources.elements_js),
        "page/failures.js": .script(PackageResources.failures_js),
        "page/format.js": .script(PackageResources.format_js),
        "page/graphs.js": .script(PackageResources.graphs_js),
        "page/history.js": .script(PackageResources.history_js),
        "page/job.js": .script(PackageResources.job_js),
        "page/jobs.js": .script(PackageResources.jobs_js),
        "page/keys.js": .script(PackageResources.keys_js),
        "page/lightbox.js": .script(PackageResources.lightbox_js),
        "page/live.js": .script(PackageResources.live_js),
        "page/overview.js": .script(PackageResources.overview_js),
        "page/pictures.js": .script(PackageResources.pictures_js),
        "page/queues.js": .script(PackageResources.queues_js),
        "page/server.js": .script(PackageResources.server_js),
        "page/sign-in.js": .script(PackageResources.sign_in_js),
        "page/states.js": .script(PackageResources.states_js),
        "page/storyboard.js": .script(PackageResources.storyboard_js),
        "page/upload.js": .script(PackageResources.upload_js),
        "page/workers.js": .script(PackageResources.workers_js),
    ]

    func page() throws(Problem) -> Response {
        guard let page = Self.pages[String(target.path)] else {
            throw Problem(.notFound, "there is nothing at this path")
        }
        let headers: HTTPFields = [
            .contentType: page.mediaType, .eTag: page.tag, .cacheControl: "no-cache",
            .contentSecurityPolicy: pagePolicy,
        ]
        return try RequestConditions(request).response(in: headers)
            ?? Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: page.bytes)))
    }
}
