/// What a put does with bytes that are already stored under the digest.
package enum ExistingBytes: Sendable {
    /// They stay as they are, unread, with their time.
    case kept
    /// They are written again, which repairs damaged bytes and renews their time. A reader sees the old or the new bytes.
    case replaced
}
