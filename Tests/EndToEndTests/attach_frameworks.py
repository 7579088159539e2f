"""What frameworks do to a table whose column of pictures is attached, on a database of their own.

    attach_frameworks.py BIN WORKDIR sqlite
    attach_frameworks.py BIN WORKDIR DATABASE HOST USER     a PostgreSQL database that has Cameo's tables

CAMEO_STORE names the store. Ends with an error if a statement of theirs fails, or a row has not what it should have.
"""
import os
import subprocess
import sys

BIN, FOLDER, KIND = sys.argv[1:4]
LITE = KIND == "sqlite"
NAME = "app.shop_user.picture" if LITE else "shop_user.picture"
VIEW = "cameo_shop_user_picture" if LITE else "cameo.app_cameo_shop_user_picture"


def cameo(command, *arguments, status=0):
    ran = subprocess.run([f"{BIN}/{command}", *arguments], capture_output=True, text=True, cwd=FOLDER)
    assert ran.returncode == status, f"{command} {arguments}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def attach(table="shop_user"):
    place = ["--in", "app.sqlite"] if LITE else []
    cameo("cameo-admin", "attach", f"{table}.picture", *place, "--key", "id", "--as", "url", "--preset", "avatar")


def work():
    cameo("cameo-worker", "--drain", "--log-level", "error")


import django
from django.conf import settings

database = {"ENGINE": "django.db.backends.sqlite3", "NAME": f"{FOLDER}/app.sqlite"}
if not LITE:
    database = {"ENGINE": "django.db.backends.postgresql", "NAME": KIND, "HOST": sys.argv[4], "USER": sys.argv[5]}
settings.configure(
    DATABASES={"default": database}, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    TEMPLATES=[{"BACKEND": "django.template.backends.django.DjangoTemplates"}],
)
django.setup()
from django.db import connection, migrations, models, transaction
from django.db.migrations.state import ProjectState
from django.template import engines

state = ProjectState()


def migrate(*operations):
    """Runs the operations of one migration, in one transaction where Django does that too."""
    global state
    with connection.schema_editor(atomic=True) as editor:
        for operation in operations:
            before, state = state, state.clone()
            operation.state_forwards("shop", state)
            operation.database_forwards("shop", editor, before, state)
    return state.apps.get_model("shop", "User")


def rows():
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id, state, avatar_96_uri, avatar_96_width FROM {VIEW} ORDER BY id")
        return cursor.fetchall()


User = migrate(migrations.CreateModel("User", [
    ("id", models.BigAutoField(primary_key=True)), ("name", models.CharField(max_length=50)),
    ("picture", models.CharField(max_length=200, null=True)),
]))
User.objects.create(name="before", picture="initials:Before")
attach()
ada = User.objects.create(name="Ada", picture="initials:Ada")
User.objects.bulk_create([User(name=str(number), picture=f"initials:{number}") for number in range(5)] + [User(name="none")])
try:
    with transaction.atomic():
        User.objects.all().delete()
        raise KeyError
except KeyError:
    pass
work()
assert [row[1] for row in rows()] == ["completed"] * 7, rows()
assert all(row[2].startswith("cameo://thumb/") and row[3] == 96 for row in rows())

# What a program shows, by a property and a template.
with connection.cursor() as cursor:
    cursor.execute(f"""SELECT avatar_48_uri, avatar_96_uri, avatar_48_width, avatar_48_height, avatar_48_color
        FROM shop_user JOIN {VIEW} USING (id) WHERE name = 'Ada'""")
    names = [column[0] for column in cursor.description]
    picture = dict(zip(names, cursor.fetchone()))
page = engines["django"].from_string("""<img src="/thumb/{{ p.avatar_48_uri|slice:"14:" }}"
  srcset="/thumb/{{ p.avatar_96_uri|slice:"14:" }} 2x" width="{{ p.avatar_48_width }}" height="{{ p.avatar_48_height }}"
  style="background: {{ p.avatar_48_color }}">""").render({"p": picture})
assert 'width="48" height="48"' in page and " 2x" in page and "background: #" in page, page

# save() writes every column: no job is enqueued for the same value.
jobs = cameo("cameo-status", "jobs", "--json", "--limit", "100").count("\n")
ada.name = "Countess"
ada.save()
work()
assert cameo("cameo-status", "jobs", "--json", "--limit", "100").count("\n") == jobs
ada.picture = "initials:Lovelace"
ada.save()
User.objects.filter(name="before").delete()
work()
assert len(rows()) == 6 and cameo("cameo-admin", "attach", "--check", NAME)

# Migrations that write rows and alter the table. SQLite's table is made anew, which drops the triggers.
User = migrate(
    migrations.RunPython(lambda apps, editor: apps.get_model("shop", "User").objects.create(name="m", picture="initials:M")),
    migrations.AlterField("user", "name", models.CharField(max_length=70, db_index=True)),
    migrations.AddField("user", "age", models.IntegerField(default=3)),
    migrations.AlterField("user", "picture", models.TextField(null=True)),
)
User.objects.create(name="after", picture="initials:After")
work()
if LITE:
    cameo("cameo-admin", "attach", "--check", NAME, status=1)
    assert "made anew" in cameo("cameo-admin", "attach", "--list")
    cameo("cameo-admin", "attach", "--repair", NAME)
    work()
assert len(rows()) == 8 and {row[1] for row in rows()} == {"completed"}, rows()
cameo("cameo-admin", "attach", "--check", NAME)

# The column goes. In SQLite, Cameo's triggers have to go before.
if LITE:
    cameo("cameo-admin", "detach", NAME)
User = migrate(migrations.RemoveField("user", "picture"))
User.objects.create(name="without", age=1)
if not LITE:
    assert "not followed" in cameo("cameo-admin", "attach", "--list")
    cameo("cameo-admin", "detach", "--forget", NAME)
assert '"name"' not in cameo("cameo-admin", "attach", "--list", "--json")

# SQLAlchemy writes, and Alembic's autogenerate wants to drop nothing of Cameo's.
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.orm import Session, declarative_base

url = f"sqlite:///{FOLDER}/app.sqlite" if LITE else f"postgresql+psycopg://{sys.argv[5]}@/{KIND}?host={sys.argv[4]}&options=-csearch_path=public"
engine, Base = sqlalchemy.create_engine(url), declarative_base()


class Photo(Base):
    __tablename__ = "photo"
    id = sqlalchemy.Column(sqlalchemy.Integer, primary_key=True)
    picture = sqlalchemy.Column(sqlalchemy.Text)


Base.metadata.create_all(engine)
attach("photo")
with Session(engine) as session:
    session.add_all([Photo(picture=f"initials:P{number}") for number in range(3)])
    session.commit()
    session.delete(session.query(Photo).first())
    session.commit()
work()
with engine.connect() as sql:
    view = VIEW.replace("shop_user", "photo")
    assert [row[0] for row in sql.execute(sqlalchemy.text(f"SELECT state FROM {view}"))] == ["completed"] * 2

    def include_object(object, name, type_, reflected, compare_to):
        return not (type_ == "table" and reflected and name.startswith(("cameo_", "shop_")))

    found = compare_metadata(MigrationContext.configure(sql, opts={"include_object": include_object}), Base.metadata)
    assert found == [], found
print("done")
