/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl man: the manual page, made of the tables of commands and options. */
#include "base/check.h"
#include "cli/common/version.h"
#include "cli/ctl/ctl.h"
#include <string.h>

/* troff takes a dot or a quote at a line's start for a request, and a bare hyphen for one that may be a line's end. */
static void text(struct sl_buf *out, const char *s)
{
    bool start = true;
    for (; *s != '\0'; s++) {
        if (start && (*s == '.' || *s == '\'')) {
            sl_buf_text(out, "\\&");
        }
        start = *s == '\n';
        if (*s == '\\') {
            sl_buf_text(out, "\\e");
        } else if (*s == '-') {
            sl_buf_text(out, "\\-");
        } else {
            sl_buf_add(out, s, 1);
        }
    }
}

static void line(struct sl_buf *out, const char *request, const char *s)
{
    sl_buf_print(out, "%s ", request);
    text(out, s);
    sl_buf_text(out, "\n");
}

static void paragraph(struct sl_buf *out, const char *s)
{
    sl_buf_text(out, ".PP\n");
    text(out, s);
    sl_buf_text(out, "\n");
}

static void print_option(struct sl_buf *out, const struct sl_flag *flag)
{
    sl_buf_text(out, ".TP\n\\fB");
    if (flag->short_name != NULL) {
        text(out, flag->short_name);
        sl_buf_text(out, "\\fR, \\fB");
    }
    text(out, flag->name);
    sl_buf_text(out, "\\fR");
    bool optional = flag->type == SL_FLAG_WORD || flag->type == SL_FLAG_CHOICE;
    if (flag->value != NULL) {
        sl_buf_text(out, optional ? "[=\\fI" : " \\fI");
        text(out, flag->value);
        sl_buf_text(out, optional ? "\\fR]" : "\\fR");
    }
    sl_buf_text(out, "\n");
    text(out, flag->about);
    sl_buf_text(out, "\n");
}

/* Of a command, or with NULL those of each. */
static void print_options(struct sl_buf *out, const char *command)
{
    size_t count;
    const struct sl_flag *options = sl_ctl_options(&count);
    char scope[SL_CTL_SCOPE_LEN];
    sl_ctl_scope(command == NULL ? "" : command, scope);
    for (size_t i = 0; i < count; i++) {
        bool shown =
            command == NULL ? options[i].scope == NULL : sl_flag_concerns(&options[i], scope);
        if (shown) {
            print_option(out, &options[i]);
        }
    }
}

static void print_command(struct sl_buf *out, const struct sl_ctl_command *c)
{
    sl_buf_text(out, ".SS ");
    text(out, c->name);
    sl_buf_text(out, "\n.PP\n\\fBsluicectl ");
    text(out, c->name);
    sl_buf_text(out, "\\fR ");
    text(out, c->synopsis);
    sl_buf_text(out, "\n");
    paragraph(out, c->about);
    if (c->outputs != 0) {
        struct sl_buf forms = {0};
        sl_buf_text(&forms, "Forms of --output: ");
        sl_ctl_print_outputs(c->outputs, &forms);
        paragraph(out, forms.data);
        sl_buf_fini(&forms);
    }
    print_options(out, c->name);
    sl_buf_text(out, ".PP\n.nf\n");
    text(out, c->examples);
    sl_buf_text(out, ".fi\n");
}

static void print_page(struct sl_buf *out)
{
    const struct sl_ctl_command *c;
    sl_buf_text(out,
                ".TH SLUICECTL 1 \"\" \"Sluice " SL_VERSION "\" \"User Commands\"\n.nh\n.ad l\n");
    line(out, ".SH", "NAME");
    text(out, "sluicectl - see and control a job queue of Sluice\n");
    line(out, ".SH", "SYNOPSIS");
    sl_buf_text(out, "\\fBsluicectl\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n.br\n"
                     "\\fBkubectl sluice\\fR \\fICOMMAND\\fR [\\fIoptions\\fR]\n");
    line(out, ".SH", "COMMANDS");
    for (size_t i = 0; (c = sl_ctl_command_at(i)) != NULL; i++) {
        print_command(out, c);
    }
    line(out, ".SH", "OPTIONS OF EVERY COMMAND");
    print_options(out, NULL);
    line(out, ".SH", "EXIT STATUS");
    text(out, "0 done, 1 something failed, 2 wrong usage.\n");
    line(out, ".SH", "ENVIRONMENT");
    static const char *const variables[][2] = {
        {"SLUICE_SERVER", "server, as --server"},
        {"SLUICE_KUBECONFIG", "kubeconfig, as --kubeconfig"},
        {"KUBECONFIG", "kubeconfigs with colons between, merged as kubectl merges them"}};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        sl_buf_print(out, ".TP\n\\fB%s\\fR\n", variables[i][0]);
        text(out, variables[i][1]);
        sl_buf_text(out, "\n");
    }
    line(out, ".SH", "SEE ALSO");
    sl_buf_text(out, "\\fBkubectl\\fR(1)\n");
}

int sl_ctl_man(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_buf page = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("man takes no arguments");
    }
    print_page(&page);
    sl_ctl_print(&page);
    sl_buf_fini(&page);
    return 0;
}
