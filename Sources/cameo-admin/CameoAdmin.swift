internal import ArgumentParser
internal import CameoModel
internal import CommandSupport

@main
struct CameoAdmin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cameo-admin",
        abstract: "Change jobs and queues, remove cached originals, and maintain the store.",
        discussion: """
            EXAMPLES
              cameo-admin retry 17 18
              cameo-admin retry --state discarded --code source.timeout
              cameo-admin cancel 19
              cameo-admin forget https://example.com/picture.png
              cameo-admin attach app_users.picture --key id --as url --preset avatar
              cameo-admin snooze 20 --for 10m
              cameo-admin limit --key example.com --max-running 8
              cameo-admin pause imports
              cameo-admin worker stop --all
              cameo-admin hooks retry --all
              cameo-admin backfill --preset gallery --dry-run
              cameo-admin backup /backups/cameo-monday
              cameo-admin export | cameo-admin import postgres://pictures@db.example/pictures --blobs s3://bucket/cameo
              cameo-admin check

            EXIT CODES
              0 done, 1 something named does not exist, or a check failed, 2 bad usage, 4 the store cannot be opened
            """,
        version: CameoVersion.current,
        subcommands: [
            RetryCommand.self, CancelCommand.self, SnoozeCommand.self, LimitCommand.self, PauseCommand.self,
            ResumeCommand.self, QueueCommand.self, WorkerCommand.self, PruneCommand.self, VacuumCommand.self,
            BackfillCommand.self, BackupCommand.self, RestoreCommand.self, ExportCommand.self, ImportCommand.self,
            ForgetCommand.self, AttachCommand.self, DetachCommand.self, HooksCommand.self, BlobsCommand.self,
            CheckCommand.self,
        ]
    )

    static func main() async {
        await CommandMain.run(Self.self)
    }
}
