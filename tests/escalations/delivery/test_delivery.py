"""A result leaves Loopwatch only by a person's act, as it was shown; each try is on record."""

from __future__ import annotations

import json
from io import BytesIO, StringIO, TextIOWrapper

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction

from loops import deliveries, landing, services, stage
from loops.models import Delivery, Session
from tests.escalations.delivery.conftest import ODD
from tests.escalations.test_session_page import text_of
from tests.loops.workspace_kit import fingerprint, git
from tracker import services as tracker
from tracker.errors import Conflict, Invalid, NotAllowed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.once]
BRANCH = "refs/heads/loopwatch/S-{}"


def store_of(session):
    return stage.Folders.of(session).store


def in_store(session, *args):
    return git(store_of(session), *args)


def row(session) -> Delivery:
    return Delivery.objects.filter(session=session).latest("pk")


# --- the result ----------------------------------------------------------------------------------


def test_a_done_session_stands_on_its_branch_with_all_that_it_proved(done):
    assert (done.result_rev, done.result_head) == tuple(
        done.iterations.order_by("-number").values_list("rev", "head").first()
    )
    commit = in_store(done, "rev-parse", BRANCH.format(done.pk))
    assert in_store(done, "rev-parse", f"{commit}^{{tree}}") == done.result_rev


def test_a_stopped_session_keeps_what_was_not_committed(asked, me):
    session = Session.objects.get(pk=asked.session_id)
    services.stop(session, me)
    session.refresh_from_db()
    assert session.result_rev == asked.evidence
    commit = in_store(session, "rev-parse", BRANCH.format(session.pk))
    assert commit != session.result_head
    assert in_store(session, "rev-parse", f"{commit}^{{tree}}") == asked.evidence
    assert "Not verified" in deliveries.label(session)


def test_a_session_that_ends_before_its_first_claim_has_no_result(new_session, me):
    session = new_session()
    services.stop(session, me)
    session.refresh_from_db()
    assert (session.end_reason, session.result_rev) == ("stopped", "")
    with pytest.raises(Conflict, match="changed nothing"):
        deliveries.deliver(session, me, "patch")


def test_a_landing_that_failed_does_not_fail_the_end_and_is_done_by_the_delivery(
    asked, me, remote, monkeypatch
):
    def broken(*args, **options):
        raise OSError("the disk is full")

    session = Session.objects.get(pk=asked.session_id)
    with monkeypatch.context() as patched:
        patched.setattr(landing, "land", broken)
        services.stop(session, me)
    session.refresh_from_db()
    assert session.state == "ended"
    assert in_store(session, "rev-parse", BRANCH.format(session.pk)) == session.result_head
    assert deliveries.deliver(session, me, "push").row.ok
    pushed = git(remote, "rev-parse", BRANCH.format(session.pk))
    assert git(remote, "rev-parse", f"{pushed}^{{tree}}") == session.result_rev


# --- services ------------------------------------------------------------------------------------


def test_a_push_is_kept_as_that_persons_and_leaves_the_source_as_it_was(done, me, remote, source):
    before = fingerprint(source)
    made = deliveries.deliver(done, me, "push").row
    assert (made.ok, made.by, made.kind) == (True, me.actor, "push")
    assert made.target == f"origin {remote}"
    assert git(remote, "rev-parse", BRANCH.format(done.pk)) == made.commit
    assert fingerprint(source) == before


def test_a_refusal_of_the_remote_is_kept_with_its_words(done, me, remote):
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'Ask Ana first.' >&2\nexit 1\n")
    hook.chmod(0o755)
    made = deliveries.deliver(done, me, "push", "origin").row
    assert not made.ok
    assert "Ask Ana first." in made.said


def test_what_names_no_place_is_refused_and_nothing_is_tried(done, me, remote):
    for target, words in (("up", "no remote"), ("ext::sh x", "helper"), ("../x.git", "no remote")):
        with pytest.raises(Invalid, match=words):
            deliveries.deliver(done, me, "push", target)
    assert not Delivery.objects.exists()


def test_no_push_goes_into_an_agents_repository(done, me):
    clone = stage.Folders.of(done).clone
    for address in (str(clone), f"file://{clone}"):
        with pytest.raises(Invalid, match="own data folder"):
            deliveries.deliver(done, me, "push", address)


def test_where_to_push_is_asked_when_it_is_not_plain(done, me, source):
    with pytest.raises(Invalid, match="Say where to push"):
        deliveries.deliver(done, me, "push")
    git(source, "remote", "add", "only", "/no/where.git")
    assert not deliveries.deliver(done, me, "push").row.ok


def test_only_a_result_is_delivered(done, me):
    for changed, words in (
        ({"end_reason": "no_op"}, "found nothing to do"),
        ({"end_reason": "failed"}, "failed, so it has no result"),
        ({"state": "paused", "end_reason": None}, "has not ended"),
    ):
        Session.objects.filter(pk=done.pk).update(**changed)
        with pytest.raises(Conflict, match=words):
            deliveries.deliver(done, me, "patch")
    assert not Delivery.objects.exists()


def test_agents_do_not_deliver(done, project):
    agent = tracker.agent(project, "worker", done.ref, f"{done.ref}/1")
    with pytest.raises(NotAllowed):
        deliveries.deliver(done, agent, "patch")


def test_a_delivery_is_never_changed(done, me):
    made = deliveries.deliver(done, me, "patch").row
    with pytest.raises(DatabaseError), transaction.atomic():
        Delivery.objects.filter(pk=made.pk).update(ok=False)


def test_the_pull_request_command_gets_its_values_and_no_shell_reads_them(
    done, me, project, remote
):
    evil = 'Fix "it" $(touch /tmp/never); {branch}'
    Session.objects.filter(pk=done.pk).update(goal=f"{evil}\nmore")
    script = (
        "git push -q origin HEAD && git rev-parse --abbrev-ref HEAD && pwd && "
        'printf "%s\\n" "$@" "$LOOPWATCH_TITLE" {title}'
    )
    command = f"sh -c '{script}' x --head={{branch}} {{base}} {{title}} --title={{title}}"
    tracker.set_pull_request(project, command, by=me)
    made = deliveries.deliver(done, me, "pull_request").row
    assert made.ok, made.said
    branch, folder, *said = made.said.splitlines()
    assert branch == f"loopwatch/S-{done.pk}"
    assert said == [f"--head={branch}", "main", evil, f"--title={evil}", evil, "{title}"]
    assert not list((stage.Folders.of(done).root.parents[1] / "deliveries").iterdir())
    assert folder not in str(store_of(done))
    assert git(remote, "rev-parse", branch) == made.commit


def test_a_pull_request_command_that_fails_is_kept_with_its_output(done, me, project):
    with pytest.raises(Invalid, match="no pull-request command"):
        deliveries.deliver(done, me, "pull_request")
    tracker.set_pull_request(project, "sh -c 'echo not signed in >&2; exit 4'", by=me)
    made = deliveries.deliver(done, me, "pull_request").row
    assert (made.ok, made.said) == (False, "not signed in\n(exit code 4)")


# --- command line --------------------------------------------------------------------------------


def run(*args):
    out = StringIO()
    call_command(*args, stdout=out)
    return out.getvalue().strip()


def test_the_command_line_pushes_and_shows_it(done, remote):
    said = run("session", "deliver", str(done.pk), "--push")
    assert f"The branch loopwatch/S-{done.pk} is pushed to origin" in said
    shown = run("session", "show", str(done.pk))
    assert f"Result: loopwatch/S-{done.pk} at {row(done).commit}. Proved." in shown
    assert "push origin" in shown
    data = json.loads(run("session", "show", str(done.pk), "--json"))
    assert data["result"]["commit"] == row(done).commit
    assert [one["ok"] for one in data["deliveries"]] == [True]


def test_the_command_line_takes_an_address_from_where_one_stands(done, remote, monkeypatch):
    monkeypatch.chdir(remote.parent)
    data = json.loads(run("session", "deliver", str(done.pk), "--push", "remote.git", "--json"))
    assert (data["kind"], data["target"], data["ok"]) == ("push", str(remote), True)


def test_a_failed_push_ends_the_command_with_the_remotes_words(done):
    with pytest.raises(CommandError, match=r"Not delivered\..*where") as ended:
        run("session", "deliver", str(done.pk), "--push", "/no/where.git")
    assert ended.value.returncode == 2
    assert not row(done).ok


def test_the_patch_of_the_command_line_makes_the_result(done, source, tmp_path):
    file = tmp_path / "result.patch"
    run("session", "deliver", str(done.pk), "--patch", str(file))
    git(tmp_path, "clone", "-q", str(source), "taker")
    git(tmp_path / "taker", "am", "-q", "--keep-cr", str(file))
    assert git(tmp_path / "taker", "rev-parse", "HEAD^{tree}") == done.result_rev
    out = TextIOWrapper(BytesIO())
    call_command("session", "deliver", str(done.pk), "--patch", "-", stdout=out)
    assert out.buffer.getvalue() == file.read_bytes()
    with pytest.raises(CommandError, match="cannot be written"):
        run("session", "deliver", str(done.pk), "--patch", str(tmp_path))


def test_the_pull_request_command_is_stored_by_the_command_line(project, done):
    run("project", "edit", "demo", "--pull-request", "echo {branch}")
    assert "ran" in run("session", "deliver", str(done.pk), "--pull-request")
    assert row(done).said == f"loopwatch/S-{done.pk}"
    with pytest.raises(CommandError, match="quotation mark"):
        run("project", "edit", "demo", "--pull-request", "echo 'open")


# --- pages ---------------------------------------------------------------------------------------


def deliver(client, session, how, **fields):
    return client.post(f"/sessions/{session.pk}/deliver/{how}/", fields, follow=True)


def test_the_page_of_an_ended_session_offers_delivery(operator, done, remote, source):
    html = operator.get(f"/sessions/{done.pk}/").content.decode()
    panel = html.split('data-part="deliver"')[1].split("</section>")[0]
    assert f'value="origin">origin, {remote}</option>' in panel
    assert f'value="{source}"' in panel
    assert "Download the patch" in panel
    assert "pull-request/" not in panel
    assert "Nothing was pushed." in text_of(operator.get(f"/sessions/{done.pk}/"))


def test_a_session_that_runs_offers_no_delivery(operator, asked):
    html = operator.get(f"/sessions/{asked.session_id}/").content.decode()
    assert '<div data-part="deliver" hidden></div>' in html
    assert deliver(operator, asked.session, "patch").status_code == 409


def test_a_push_from_the_page_is_shown_there(operator, done, remote):
    page = text_of(deliver(operator, done, "push", remote="origin"))
    assert f"loopwatch/S-{done.pk} is pushed." in page
    assert "Pushed" in page
    assert "Delivered 1 time, last by olga." in page
    assert row(done).by.name == "olga"


def test_a_failed_push_shows_the_remotes_words_as_text(operator, done, tmp_path, remote):
    hook = remote / "hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho '<script>alert(1)</script>' >&2\nexit 1\n")
    hook.chmod(0o755)
    answer = deliver(operator, done, "push", address=str(remote))
    assert "Not delivered:" in text_of(answer)
    assert "Push failed" in text_of(answer)
    assert "<script>alert" not in answer.content.decode()


def test_a_push_to_nowhere_is_refused(operator, done):
    assert deliver(operator, done, "push").status_code == 422
    assert deliver(operator, done, "push", remote="nonsense").status_code == 422
    assert not Delivery.objects.exists()


def test_the_patch_is_downloaded_as_a_file(operator, done):
    answer = deliver(operator, done, "patch")
    assert answer["Content-Type"] == "text/x-patch"
    assert answer["Content-Disposition"] == f'attachment; filename="demo-S-{done.pk}.patch"'
    body = b"".join(answer.streaming_content)
    assert body.startswith(b"From ")
    assert b"GIT binary patch" in body
    assert row(done).ok


def test_the_pull_request_command_runs_from_the_page(operator, done, project, me):
    tracker.set_pull_request(project, "echo https://example.invalid/pr/7", by=me)
    page = text_of(deliver(operator, done, "pull-request"))
    assert "The pull-request command ran." in page
    assert "https://example.invalid/pr/7" in page


def test_viewers_and_strangers_and_other_sites_do_not_deliver(viewer, sign_in, done, admin):
    admin.handler.enforce_csrf_checks = True
    stranger = sign_in(None)
    for how in ("push", "pull-request", "patch"):
        assert deliver(viewer, done, how).status_code == 403
        assert deliver(stranger, done, how).status_code == 403
        assert viewer.get(f"/sessions/{done.pk}/deliver/{how}/").status_code == 405
        assert admin.post(f"/sessions/{done.pk}/deliver/{how}/").status_code == 403
    assert "deliver/push/" not in viewer.get(f"/sessions/{done.pk}/").content.decode()
    assert not Delivery.objects.exists()


def test_odd_names_reach_the_remote(done, remote, me):
    deliveries.deliver(done, me, "push")
    listed = git(remote, "ls-tree", "-z", "--name-only", BRANCH.format(done.pk)).split("\0")
    assert ODD in listed
