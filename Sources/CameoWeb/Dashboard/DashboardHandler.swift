internal import CameoModel
internal import Hummingbird

/// Serves the page at `/`, and its style sheet and scripts below `/page/`, one of which is made of what to do about the codes
/// of failures. The page loads nothing from other hosts, except
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
            tag = BlobDigest(of: bytes).description
        }
    }

    private static let advice = JobFailure.Code.Advice.allCases.map { advice in
        let codes = JobFailure.Code.allCases.filter { $0.advice == advice }
        return JSONValue.array([.string(advice.rawValue), .array(codes.map { .string($0.rawValue) })])
    }

    private static let scripts: [(name: String, bytes: [UInt8])] = [
        ("advice", Array("export const advice = \(JSONValue.array(advice).canonicalText);\n".utf8)),
        ("address", PackageResources.address_js), ("batches", PackageResources.batches_js),
        ("changes", PackageResources.changes_js), ("dashboard", PackageResources.dashboard_js),
        ("elements", PackageResources.elements_js), ("failures", PackageResources.failures_js),
        ("format", PackageResources.format_js), ("graphs", PackageResources.graphs_js),
        ("history", PackageResources.history_js), ("job", PackageResources.job_js),
        ("jobs", PackageResources.jobs_js), ("keys", PackageResources.keys_js),
        ("lightbox", PackageResources.lightbox_js), ("live", PackageResources.live_js),
        ("overview", PackageResources.overview_js), ("pictures", PackageResources.pictures_js),
        ("queues", PackageResources.queues_js), ("server", PackageResources.server_js),
        ("sign-in", PackageResources.sign_in_js), ("states", PackageResources.states_js),
        ("storyboard", PackageResources.storyboard_js), ("upload", PackageResources.upload_js),
        ("workers", PackageResources.workers_js),
    ]

    private static let pages: [String: Page] = [
        "": Page("text/html; charset=utf-8", PackageResources.dashboard_html),
        "page/dashboard.css": Page("text/css; charset=utf-8", PackageResources.dashboard_css),
        "page/favicon.svg": Page("image/svg+xml", PackageResources.favicon_svg),
    ].merging(scripts.map { ("page/\($0.name).js", Page("text/javascript; charset=utf-8", $0.bytes)) }) { $1 }

    func page() throws(Problem) -> Response {
        guard let page = Self.pages[String(target.path)] else {
            throw Problem(.notFound, "there is nothing at this path")
        }
        return try whole(page.bytes, as: page.mediaType, tag: page.tag, cacheControl: "no-cache", policy: pagePolicy)
    }
}
