"""Who may see and do what; one guard for every door."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.http import HttpResponse

from tracker import access, services
from tracker.access import Right, Role
from tracker.errors import Conflict, Invalid, NotAllowed, NotFound
from tracker.models import Membership
from tracker.services import members


@pytest.fixture
def other(ana):
    return services.create_project(name="secret-plans", repo_path="/srv/other", by=ana)


@pytest.fixture
def user(db):
    return members.known_user("eve")


def rights_in(user, project):
    return [right for right in Right if access.may(user, right, project)]


def test_each_role_includes_the_rights_of_the_ones_below(project, user):
    assert rights_in(user, project) == []
    members.grant("eve", "viewer", project)
    assert rights_in(user, project) == [Right.SEE]
    members.grant("eve", "operator", project)
    assert rights_in(user, project) == [Right.SEE, Right.OPERATE]
    members.grant("eve", "admin", project)
    assert rights_in(user, project) == list(Right)


def test_a_role_in_one_project_opens_no_other(project, other, user):
    members.grant("eve", "admin", project)
    assert rights_in(user, other) == []
    assert rights_in(user, None) == []
    assert list(access.visible_projects(user)) == [project]


def test_a_role_in_all_projects_counts_in_each_and_the_higher_role_holds(project, other, user):
    members.grant("eve", "viewer", None)
    members.grant("eve", "operator", project)
    assert access.role_of(user, project) is Role.OPERATOR
    assert access.role_of(user, other) is Role.VIEWER
    assert list(access.visible_projects(user)) == [project, other]


def test_nobody_and_people_who_left_have_no_right(project, user):
    members.grant("eve", "admin", None)
    user.is_active = False
    for nobody in (user, AnonymousUser()):
        assert access.role_of(nobody, project) is None
        assert not access.visible_projects(nobody)


def test_a_refusal_says_what_is_missing_and_who_can_grant_it(project, user):
    members.grant("eve", "viewer", project)
    members.grant("ana", "admin", None)
    with pytest.raises(NotAllowed) as refused:
        access.require(user, Right.OPERATE, project)
    assert "demo needs the role operator. You have viewer. ana can grant it." in str(refused.value)


def test_a_refusal_does_not_tell_the_name_of_a_project_one_may_not_see(other, user):
    with pytest.raises(NotAllowed) as refused:
        access.require(user, Right.SEE, other)
    assert "secret-plans" not in str(refused.value)
    assert "loopwatch access grant" in str(refused.value)


def test_a_revoked_role_is_gone_at_once(project, user):
    members.grant("eve", "viewer", project)
    members.revoke("eve", project)
    assert rights_in(user, project) == []
    with pytest.raises(NotFound):
        members.revoke("eve", project)


def test_the_last_admin_of_all_projects_stays(project, user):
    members.grant("eve", "admin", None)
    members.grant("ana", "admin", project)
    for give_up in (
        lambda: members.revoke("eve", None),
        lambda: members.grant("eve", "viewer", None),
    ):
        with pytest.raises(Conflict, match="eve is the only admin of all projects"):
            give_up()
    assert access.role_of(user, None) is Role.ADMIN
    members.grant("ana", "admin", None)
    members.revoke("eve", None)
    assert access.role_of(user, None) is None


def test_an_unknown_role_is_refused_by_the_service_and_by_the_database(project, user):
    with pytest.raises(Invalid):
        members.grant("eve", "owner", project)
    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.create(user=user, project=project, role="owner")


def test_a_guarded_view_reads_with_one_right_and_writes_with_another(project, user, rf):
    @access.guarded("name", services.get_project)
    def view(request, name):
        return HttpResponse(f"{request.method} {name.pk}")

    members.grant("eve", "viewer", project)
    for method, allowed in (("get", True), ("head", True), ("post", False), ("delete", False)):
        request = getattr(rf, method)("/")
        request.user = user
        if allowed:
            assert view(request, name="demo").status_code == 200
        else:
            with pytest.raises(NotAllowed):
                view(request, name="demo")


def test_people_of_the_web_act_under_their_own_name(user):
    by = access.acting(user)
    assert by.is_person
    assert by.actor.name == "eve"
