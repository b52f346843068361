/* The folder is used only if it is a directory, not a link, owned by this user, and closed to all
 * others; so no other user can create, remove or read a socket in it. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/mark-folder.h"
#include "util/intl.h"
#include "nvmtop/mark.h"
#include "util/num.h"

static bool address(struct sockaddr_un *out, const char *folder, const char *name)
{
	memset(out, 0, sizeof(*out));
	out->sun_family = AF_UNIX;
	int n = snprintf(out->sun_path, sizeof(out->sun_path), "%s/%s", folder, name);
	return n > 0 && (size_t)n < sizeof(out->sun_path);
}

static bool is_ours(const char *path, mode_t closed)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & closed);
}

bool folder_of(long pid, struct sockaddr_un *out)
{
	char folder[sizeof(out->sun_path)], name[32];

	if (!nvmtop_mark_folder(folder, sizeof(folder)) || !is_ours(folder, 077))
		return false;
	snprintf(name, sizeof(name), "%ld.sock", pid);
	return address(out, folder, name);
}

long folder_pid(const char *path)
{
	const char *name = strrchr(path, '/'), *end;
	int64_t pid;

	name = name ? name + 1 : path;
	end = num_i64(name, name + strlen(name), &pid);
	return end && !strcmp(end, ".sock") && name[0] >= '1' && name[0] <= '9' && pid <= INT32_MAX
		       ? (long)pid
		       : 0;
}

/* False: see errno. */
bool folder_listens(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;
	int why = errno;

	if (fd >= 0)
		close(fd);
	errno = why;
	return yes;
}

/* Both are checked: the process may be in another container, where it has another number, and a socket
 * that was just created does not listen yet. */
void folder_sweep(const struct sockaddr_un *at)
{
	long pid = folder_pid(at->sun_path);

	if (pid && !folder_listens(at) && errno == ECONNREFUSED && kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		unlink(at->sun_path);
}

static int not_ours(const char *folder, struct err *e)
{
	char shown[sizeof(((struct sockaddr_un *)0)->sun_path)];

	text_printable(shown, sizeof(shown), folder, strlen(folder));
	return err_set(e, ERR_FAILED,
		       _("cannot accept marks from other programs: %s is not a folder that only you can "
			 "access (chmod 700, or remove it)"),
		       shown);
}

int folder_each(void (*call)(void *to, const struct sockaddr_un *at), void *to, struct err *e)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct sockaddr_un at;
	struct dirent *d;
	struct stat st;
	DIR *dir;

	if (!nvmtop_mark_folder(folder, sizeof(folder)) || lstat(folder, &st) < 0)
		return 0;
	if (!is_ours(folder, 077))
		return not_ours(folder, e);
	dir = opendir(folder);
	while (dir && (d = readdir(dir)))
		if (folder_pid(d->d_name) && address(&at, folder, d->d_name))
			call(to, &at);
	if (dir)
		closedir(dir);
	return 0;
}

static void sweep(void *unused, const struct sockaddr_un *at)
{
	(void)unused;
	folder_sweep(at);
}

int folder_own(struct sockaddr_un *out, struct err *e)
{
	char folder[sizeof(out->sun_path)] = "", shown[sizeof(out->sun_path)], name[32];
	int num;

	snprintf(name, sizeof(name), "%ld.sock", (long)getpid());
	if (!nvmtop_mark_folder(folder, sizeof(folder)) || !address(out, folder, name))
		return err_set(e, ERR_FAILED,
			       _("cannot accept marks from other programs: no folder for the socket"));
	text_printable(shown, sizeof(shown), folder, strlen(folder));
	num = mkdir(folder, 0700) < 0 ? errno : 0;
	if (num && num != EEXIST)
		return err_sys(e, ERR_FAILED, num,
			       _("cannot accept marks from other programs: cannot create the folder %s"),
			       shown);
	if (folder_each(sweep, NULL, e) < 0)
		return -1;
	if (folder_listens(out))
		return err_set(
			e, ERR_FAILED,
			_("cannot accept marks from other programs: another nvmtop has the socket %s/%s"),
			shown, name);
	unlink(out->sun_path); /* of a process that had this number before */
	return 0;
}
