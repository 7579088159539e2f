package import Foundation

/// Times as HTTP writes them (RFC 9110, section 5.6.7).
package enum HTTPDate {
    package static func parse(_ text: String, now: Date) -> Date? { nil }
    package static func text(of date: Date) -> String { "" }
}
