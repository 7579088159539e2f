/// Why an origin did not do what it was asked for.
package enum OriginError: Error {
    /// It said this, or nothing, instead of what it was asked for.
    case unexpected(String)
    /// The process ended, with these words on its standard error.
    case ended(String)
}
