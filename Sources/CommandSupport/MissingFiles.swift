/// Whether files that are not there may be sources: they may yet come, or be on the worker's machine only.
package enum MissingFiles: Sendable {
    case refused, allowed
}
