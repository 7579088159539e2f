/// Whether missing files are accepted as sources: they may appear later, or exist on the worker's machine only.
package enum MissingFiles: Sendable {
    case refused, allowed
}
