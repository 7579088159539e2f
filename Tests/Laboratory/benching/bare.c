// The least that a queue in PostgreSQL can do: claims a batch and completes it, again and again, on one connection.
//
//   bare CONNECTION mark|move BATCH SECONDS
//
// `mark` leaves completed jobs where they are: two UPDATEs. `move` does what Cameo does: the job leaves the table of those
// that wait, and its outcome and attempt are kept in tables of their own. Both give each claim a token, without which
// nothing is completed. Prints a line when it is connected, and waits for one; then works for so long, or until nothing is
// left, and prints how many jobs it has completed and the milliseconds that took.
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TOKEN = 36, NUMBER = 20 };

static const char *const claims[] = {
    "WITH due AS MATERIALIZED (SELECT id FROM bare.job WHERE state = 'available' ORDER BY rank LIMIT $1"
    "  FOR UPDATE SKIP LOCKED)"
    "UPDATE bare.job SET state = 'running', attempt = attempt + 1, token = gen_random_uuid() FROM due"
    " WHERE job.id = due.id RETURNING job.id, job.token, job.request",
    "WITH due AS MATERIALIZED (SELECT id FROM bare.task WHERE state = 1 ORDER BY rank LIMIT $1 FOR UPDATE SKIP LOCKED)"
    "UPDATE bare.task SET state = 2, token = gen_random_uuid(), attempted_at = clock_timestamp()"
    " FROM due JOIN bare.request ON request.id = due.id WHERE task.id = due.id"
    " RETURNING task.id, task.token, request.request",
};
static const char *const completions[] = {
    "UPDATE bare.job SET state = 'completed', finalized_at = now()"
    " FROM unnest($1::bigint[], $2::uuid[]) AS claim(id, token)"
    " WHERE job.id = claim.id AND job.token = claim.token AND job.state = 'running'",
    "WITH ended AS (DELETE FROM bare.task USING unnest($1::bigint[], $2::uuid[]) AS claim(id, token)"
    "   WHERE task.id = claim.id AND task.token = claim.token AND task.state = 2 RETURNING task.id, task.attempted_at),"
    " kept AS (INSERT INTO bare.outcome SELECT id, 4, attempted_at, now() FROM ended)"
    "INSERT INTO bare.attempt SELECT id, 1, attempted_at, now() FROM ended",
};

static void fail(const char *format, ...) {
    va_list words;
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void prepare(PGconn *connection, const char *name, const char *sql) {
    PGresult *result = PQprepare(connection, name, sql, 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("%s", PQerrorMessage(connection));
    PQclear(result);
}

static PGresult *run(PGconn *connection, const char *name, int count, const char *const *values) {
    PGresult *result = PQexecPrepared(connection, name, count, values, NULL, NULL, 0);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail("%s", PQerrorMessage(connection));
    return result;
}

// A column of a result as an array.
static void list(const PGresult *rows, int column, char *text) {
    *text++ = '{';
    for (int row = 0; row < PQntuples(rows); row++) text += sprintf(text, row ? ",%s" : "%s", PQgetvalue(rows, row, column));
    strcpy(text, "}");
}

int main(int count, char **words) {
    if (count != 5) fail("usage: bare CONNECTION mark|move BATCH SECONDS\n");
    int kind = strcmp(words[2], "move") == 0, batch = atoi(words[3]), done = 0;
    if (batch < 1) fail("a batch has at least one job\n");
    char *ids = malloc((size_t)batch * (NUMBER + 1) + 3), *tokens = malloc((size_t)batch * (TOKEN + 1) + 3);
    if (!ids || !tokens) fail("no memory\n");
    PGconn *connection = PQconnectdb(words[1]);
    if (PQstatus(connection) != CONNECTION_OK) fail("%s", PQerrorMessage(connection));
    prepare(connection, "claim", claims[kind]);
    prepare(connection, "complete", completions[kind]);
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF) return 1;
    double start = now(), end = start + atof(words[4]) * 1e3;
    while (now() < end) {
        PGresult *jobs = run(connection, "claim", 1, (const char *const[]){words[3]});
        int claimed = PQntuples(jobs);
        if (claimed) {
            list(jobs, 0, ids);
            list(jobs, 1, tokens);
            PGresult *completed = run(connection, "complete", 2, (const char *const[]){ids, tokens});
            if (atoi(PQcmdTuples(completed)) != claimed) fail("completed %s of %d jobs\n", PQcmdTuples(completed), claimed);
            PQclear(completed);
        }
        PQclear(jobs);
        if (!claimed) break;
        done += claimed;
    }
    printf("%d %f\n", done, now() - start);
    PQfinish(connection);
    return 0;
}
