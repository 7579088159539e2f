/// The version of this build, as the commands and the workers' rows say it.
package enum CameoVersion {
    package static let current = "0.1.0"
}
