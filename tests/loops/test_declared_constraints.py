"""What a model declares, the database holds, whichever migrations led there.

Dropping a column's index on PostgreSQL takes every index on just that column with it, a conditional
unique constraint too, without a word (Django's schema editor): so it is looked up, by name.
"""

import pytest
from django.apps import apps
from django.db import connection

MODELS = [
    model for name in ("tracker", "loops", "escalations")
    for model in apps.get_app_config(name).get_models()
]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_declared_constraint_and_index_is_in_the_database(model):
    with connection.cursor() as cursor:
        held = connection.introspection.get_constraints(cursor, model._meta.db_table)
    declared = {one.name for one in (*model._meta.constraints, *model._meta.indexes)}
    assert declared <= held.keys()
