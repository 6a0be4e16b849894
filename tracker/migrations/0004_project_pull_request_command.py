"""The command by which people ask for a merge of a session's branch."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tracker', '0003_membership'),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='pull_request',
            field=models.TextField(blank=True, default=''),
        ),
    ]
