/* Loaded before a process (LD_PRELOAD): after each fsync of a file in SYNCED_FROM, a copy of it stands in SYNCED_TO. What was
   written and not synced is not in the copies: they are what a power cut leaves when it takes all of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void keep(int fd) {
  const char *from = getenv("SYNCED_FROM"), *to = getenv("SYNCED_TO");
  char link[64], path[4096], target[4200], temporary[4300], bytes[65536];
  struct stat info;
  if (from == NULL || to == NULL || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, from, strlen(from)) != 0 || strchr(path + strlen(from) + 1, '/') != NULL) return;
  snprintf(target, sizeof target, "%s/%s", to, strrchr(path, '/') + 1);
  snprintf(temporary, sizeof temporary, "%s.%d", target, getpid());
  int in = open(path, O_RDONLY), out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (in < 0 || out < 0) abort();
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;)
    if (write(out, bytes, n) != n) abort();
  close(in);
  close(out);
  if (rename(temporary, target) != 0) abort();
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}
