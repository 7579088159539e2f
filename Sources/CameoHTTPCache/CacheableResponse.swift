package import Foundation

/// A response as a cache judges it: without its body.
package struct CacheableResponse: Hashable, Codable, Sendable {
    package let status: Int
    package let fields: HTTPFields
    /// When the request was sent.
    package let requestTime: Date
    /// When the head of the response arrived.
    package let responseTime: Date

    package init(status: Int, fields: HTTPFields = HTTPFields(), requestTime: Date, responseTime: Date) {
        self.status = status
        self.fields = fields
        self.requestTime = requestTime
        self.responseTime = responseTime
    }
}
