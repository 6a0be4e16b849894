"""What a session ended with, and how people handed it over; the latter is never changed.

SQLite drops a table's triggers when a later migration rebuilds the table: such a migration has to
end with `hold`. A test looks for the trigger.
"""

import django.db.models.deletion
from django.db import migrations, models


def hold(apps, schema_editor):
    # PostgreSQL has the function since the tracker's migration 0002.
    body = (
        "EXECUTE FUNCTION tracker_refuse_update()"
        if schema_editor.connection.vendor == "postgresql"
        else "BEGIN SELECT RAISE(ABORT, 'delivery_is_immutable'); END"
    )
    schema_editor.execute(
        "CREATE TRIGGER delivery_is_immutable BEFORE UPDATE ON loops_delivery "
        f"FOR EACH ROW {body}",
        params=None,
    )


def let_go(apps, schema_editor):
    on = " ON loops_delivery" if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f"DROP TRIGGER delivery_is_immutable{on}")


class Migration(migrations.Migration):

    dependencies = [
        ('loops', '0005_iteration_agent'),
        ('tracker', '0004_project_pull_request_command'),
    ]

    operations = [
        migrations.AddField(
            model_name='session',
            name='result_head',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
        migrations.AddField(
            model_name='session',
            name='result_rev',
            field=models.CharField(blank=True, default='', max_length=64),
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('push', 'Push'), ('pull_request', 'Pull Request'), ('patch', 'Patch')], max_length=12)),
                ('target', models.TextField(blank=True, default='')),
                ('commit', models.CharField(blank=True, default='', max_length=64)),
                ('ok', models.BooleanField()),
                ('said', models.TextField(blank=True, default='')),
                ('at', models.DateTimeField()),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tracker.actor')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='loops.session')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['push', 'pull_request', 'patch'])), name='delivery_kind_is_known')],
            },
        ),
        migrations.RunPython(hold, let_go),
    ]
