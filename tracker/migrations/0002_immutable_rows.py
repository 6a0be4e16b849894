"""Triggers that refuse a change of what must never change.

SQLite drops a table's triggers when a later migration rebuilds the table (AlterField and the like):
such a migration has to end with `create`. A test looks for the triggers.
"""

from django.db import migrations

# Later columns (delivered, used) may change, so the columns that may not are named.
IMMUTABLE = {
    "requirement_version_is_immutable": (
        "tracker_requirementversion",
        "id, requirement_id, number, text, actor_id, reference, created_at",
    ),
    "guidance_version_is_immutable": (
        "tracker_guidanceversion",
        "id, project_id, number, text, actor_id, reference, created_at",
    ),
    "move_is_immutable": (
        "tracker_move",
        "id, project_id, seq, subject, verb, from_state, to_state, note, actor_id, reference, at",
    ),
}


def create(apps, schema_editor):
    postgres = schema_editor.connection.vendor == "postgresql"
    if postgres:
        schema_editor.execute(
            "CREATE FUNCTION tracker_refuse_update() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '%', TG_NAME USING ERRCODE = 'check_violation'; END $$",
            params=None,
        )
    for name, (table, columns) in IMMUTABLE.items():
        head = f"CREATE TRIGGER {name} BEFORE UPDATE OF {columns} ON {table} FOR EACH ROW"
        body = (
            "EXECUTE FUNCTION tracker_refuse_update()"
            if postgres
            else f"BEGIN SELECT RAISE(ABORT, '{name}'); END"
        )
        schema_editor.execute(f"{head} {body}", params=None)


def drop(apps, schema_editor):
    postgres = schema_editor.connection.vendor == "postgresql"
    for name, (table, _) in IMMUTABLE.items():
        schema_editor.execute(f"DROP TRIGGER {name}" + (f" ON {table}" if postgres else ""))
    if postgres:
        schema_editor.execute("DROP FUNCTION tracker_refuse_update()")


class Migration(migrations.Migration):
    dependencies = (("tracker", "0001_initial"),)

    operations = (migrations.RunPython(create, drop),)
